"""What a call computes, counted without a clock: by hooks on the model, beside what the strategy says of itself."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from generators.base import Capability, Exact, Generator, Request, Stopwatch

if TYPE_CHECKING:
    from generators.registry import Loaded

Counts = dict[str, int]


def counted(loaded: "Loaded", request: Request) -> dict[str, Any]:
    """The counters of one call: `fixed` are the same on every machine, `kernel` may vary with its kernels.

    `seen_*` are hooked calls and positions, `charged_*` those the strategy lists; `cached_positions` is how many the
    decoder was handed in a cache instead of computing them again.
    """
    generator = loaded.generator
    seen: Counter[str] = Counter()
    with _watched(generator, seen):
        generation = generator.generate(request, Stopwatch())
    fixed, kernel = _parameters(generator), {"kept_tokens": sum(map(len, generation.token_ids))}
    if isinstance(request.length, Exact):
        fixed, kernel = fixed | kernel, {}
    work = {**seen, **_charged(generator, generation.steps)}
    if any(step.drafted for step in generation.steps):  # how many drafts are accepted hangs on near ties of logits
        return {"fixed": fixed, "kernel": kernel | work, "cache": loaded.cache}
    return {"fixed": fixed | work, "kernel": kernel, "cache": loaded.cache}


@contextmanager
def _watched(generator: Generator, seen: Counter[str]) -> Iterator[None]:
    """Count the passes through the encoder and decoder of a strategy that runs on a model of ours."""
    backbone = getattr(getattr(generator, "model", None), "model", None)
    with ExitStack() as hooks:
        if Capability.COUNTS in generator.capabilities and backbone is not None:
            for part in ("encoder", "decoder"):
                hook = _note(part, seen)
                hooks.callback(getattr(backbone, part).register_forward_pre_hook(hook, with_kwargs=True).remove)
        yield


def _note(part: str, seen: Counter[str]) -> Any:
    def hook(module: Any, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        seen[f"seen_{part}_calls"] += 1
        seen[f"seen_{part}_positions"] += inputs[0].shape[0] * inputs[0].shape[1]
        if part == "decoder":
            seen["cached_positions"] += getattr(named.get("cache"), "length", 0)

    return hook


def _charged(generator: Generator, steps: Any) -> Counts:
    if Capability.COUNTS not in generator.capabilities:
        return {}
    charged: Counter[str] = Counter()
    for step in steps:
        if step.calls or step.positions:
            charged[f"charged_{step.phase}_calls"] += step.calls
            charged[f"charged_{step.phase}_positions"] += step.positions
    return dict(charged)


def _parameters(generator: Generator) -> Counts:
    """The size of the model, so that another one under the same name does not pass for a change of code."""
    parameters = getattr(getattr(generator, "model", None), "parameters", None)
    return {"parameters": sum(p.numel() for p in parameters())} if callable(parameters) else {}
