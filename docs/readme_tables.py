"""The README's tables of results, from the summaries of the runs beside this file: `python docs/readme_tables.py`.

`bench.json` is `python -m reports summary RUN --json` of what `make bench` left, `latency.json` that of a latency suite
with more repeats. A test holds the README to what this prints.
"""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ORDER = (
    *("copy", "ar:weights=ar", "ar", "ar:beam_size=4", "ar:weights=ar_shallow", "hf_generate", "ctranslate2"),
    *("ctranslate2:compute_type=int8", "ctranslate2:weights=ar_shallow"),
    *("ctranslate2:weights=ar_shallow:compute_type=int8", "ctc"),
    *(f"mask_predict:n_iterations={n}" for n in (1, 2, 4, 10)),
)


def main() -> None:
    print(quality_table(), latency_table(), sep="\n", end="")


def quality_table() -> str:
    """Quality, and latency at the lengths the outputs happen to have."""
    scored = [row for row in read("bench.json") if row["bleu"] is not None]
    rows = sorted(scored, key=lambda row: place(row["strategy"]))
    head = ("entry", "BLEU", "share of AR's gain", "repeated tokens", "ms a sentence", "× ar", "× strongest AR")
    return table(head, [quality_row(row) for row in rows])


def quality_row(row: dict[str, Any]) -> tuple[str, ...]:
    low, high = row["bleu_interval"]
    share = row["share_of_ar_gain"]
    return (
        f"`{row['strategy']}`",
        f"{row['bleu']:.1f} [{low:.1f}, {high:.1f}]",
        "" if share is None else f"{share:.0%}",
        f"{row['repeated_token_rate']:.2f} %",
        "" if row["latency_s_median"] is None else f"{row['latency_s_median'] * 1e3:.1f}",
        times(row["speedup_like_for_like"]),
        times(row["speedup_each_at_best"]),
    )


def latency_table() -> str:
    """Latency at one length."""
    rows = sorted(read("latency.json"), key=lambda row: place(row["strategy"]))
    length = next(row["length"] for row in rows if row["length"] is not None)
    head = ("entry", f"ms for about {length} tokens", "95 % interval", "× ar", "× strongest AR")
    return table(head, [latency_row(row) for row in rows if row["latency_s_median"] is not None])


def latency_row(row: dict[str, Any]) -> tuple[str, ...]:
    low, high = (bound * 1e3 for bound in row["latency_s_interval"])
    speedups = times(row["speedup_like_for_like"]), times(row["speedup_each_at_best"])
    return (f"`{row['strategy']}`", f"{row['latency_s_median'] * 1e3:.1f}", f"{low:.1f} to {high:.1f}", *speedups)


def read(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((HERE / name).read_text(encoding="utf-8"))
    return rows


def place(label: str) -> tuple[int, str]:
    return (ORDER.index(label), "") if label in ORDER else (len(ORDER), label)


def times(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---", *["--:"] * (len(head) - 1)), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    main()
