"""What a person can set for a run, and the words it is set with."""

import math
import re
from dataclasses import dataclass

from generators.base import DTYPES
from suites.refusal import Refusal

SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
BYTES = {"m": 2**20, "g": 2**30}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a start; None stands for the suite's default."""

    suite: str
    task: str | None = None
    strategies: tuple[str, ...] | None = None
    lengths: tuple[int, ...] | None = None
    batch_sizes: tuple[int, ...] | None = None
    repeats: int | None = None
    budget: str | None = None
    device: str = "cpu"
    dtype: str = "float32"
    threads: int = 1
    seed: int = 0
    timeout: str = "5m"
    memory_limit: str | None = None
    isolate: bool = False

    def __post_init__(self) -> None:
        for name in ("lengths", "batch_sizes"):
            values = getattr(self, name)
            if values is not None and (not values or min(values) < 1 or len(set(values)) < len(values)):
                raise Refusal(f"--{name.replace('_', '-')} must be different numbers of 1 or more, got {values}")
        for name in ("repeats", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise Refusal(f"--{name} must be 1 or more, got {value}")
        if self.strategies is not None and not all(self.strategies):
            raise Refusal("--strategies must be names separated by commas; one of them is empty")
        if self.dtype not in DTYPES:
            raise Refusal(f"unknown dtype {self.dtype!r}; choose from: {', '.join(DTYPES)}")
        if self.memory_limit is not None and self.device != "cpu":
            raise Refusal("--memory-limit is for --device cpu; elsewhere the device itself says when it is full")
        parse_budget(self.budget)
        parse_budget(self.timeout, "--timeout")
        parse_memory(self.memory_limit)

    @property
    def timeout_s(self) -> float:
        return parse_budget(self.timeout, "--timeout")


def parse_budget(text: str | None, option: str = "--budget") -> float:
    """The seconds in `90s`, `3m`, `2.5m` or `1h`; infinity for None. Refuses anything else, naming the option."""
    if text is None:
        return math.inf
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smh])", text)
    seconds = float(found[1]) * SECONDS[found[2]] if found else 0.0
    if seconds <= 0 or math.isinf(seconds):
        raise Refusal(f"{option} must be a time above zero such as 90s, 3m or 1h, got {text!r}")
    return seconds


def parse_memory(text: str | None) -> int | None:
    """The bytes in `500m` or `4g`, binary multiples; None for None. Refuses anything else."""
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)([mg])", text)
    size = round(float(found[1]) * BYTES[found[2]]) if found else 0
    if size <= 0:
        raise Refusal(f"--memory-limit must be a size above zero such as 500m or 4g, got {text!r}")
    return size


def parse_numbers(text: str) -> tuple[int, ...]:
    """The numbers in `8,16,32`. Refuses anything else."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise Refusal(f"expected whole numbers separated by commas, got {text!r}") from None
