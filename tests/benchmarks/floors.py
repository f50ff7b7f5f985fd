"""How far the parallel strategies stand above the bare passes they are made of.

`make microbench` runs it after the benchmarks; by hand: `python tests/benchmarks/floors.py 30`.

A bare pass is the model's own forward, logits included, with nothing chosen and no loop. Each strategy is timed in turn
with its bare passes, N times (default 30), on the shipped weights: one row of about 128 target tokens, one thread,
float32, alternating which goes first. Printed is the ratio of the medians.
"""

import statistics
import sys
import time
from collections.abc import Callable

import torch

from generators.base import Exact, Natural, Placement, Prompt, Request, Stopwatch
from generators.registry import build, parse
from suites.tasks import load_task

N_TOKENS = 128


def main() -> None:
    n_trials = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    placement = Placement()
    ctc, mask_predict = (build(parse(name), placement) for name in ("ctc", "mask_predict:n_iterations=4"))
    prompt = nearest_prompt(ctc.codec)
    source_ids = torch.tensor([prompt.prefix_ids])
    one_shot, refiner = ctc.generator.model, mask_predict.generator.model  # type: ignore[attr-defined]
    masks = torch.full((1, N_TOKENS), refiner.mask_token_id)

    def bare_refinement() -> None:
        memory = refiner.encode(source_ids)
        for _ in range(4):
            refiner.fill(masks, memory, None)

    natural, exact = (Request(prompts=(prompt,), length=length) for length in (Natural(256), Exact(N_TOKENS)))
    races: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "ctc": (
            lambda: ctc.generator.generate(natural, Stopwatch()),
            lambda: one_shot.read(one_shot.encode(source_ids)),
        ),
        "mask_predict T=4": (lambda: mask_predict.generator.generate(exact, Stopwatch()), bare_refinement),
    }
    for name, (strategy, bare) in races.items():
        with torch.inference_mode():
            own_s, bare_s = in_turn(strategy, bare, n_trials)
        print(f"{name}: {own_s * 1e3:.1f} ms, bare {bare_s * 1e3:.1f} ms, ratio {own_s / bare_s:.3f} (n = {n_trials})")


def nearest_prompt(codec: object) -> Prompt:
    """The test source whose reference is nearest to 128 tokens."""
    rows = load_task("mixed").rows
    row = min(rows, key=lambda row: abs(len(codec.encode_target(row.reference)) - N_TOKENS))  # type: ignore[attr-defined]
    return Prompt(prefix_ids=codec.encode(row.source))  # type: ignore[attr-defined]


def in_turn(one: Callable[[], object], other: Callable[[], object], n_trials: int) -> tuple[float, float]:
    """Median seconds of each, after five warm-ups."""
    times: tuple[list[float], list[float]] = ([], [])
    for trial in range(-5, n_trials):
        for which in (0, 1) if trial % 2 else (1, 0):
            began = time.perf_counter()
            (one, other)[which]()
            if trial >= 0:
                times[which].append(time.perf_counter() - began)
    return statistics.median(times[0]), statistics.median(times[1])


if __name__ == "__main__":
    main()
