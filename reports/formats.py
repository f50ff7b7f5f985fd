"""Numbers as text: three significant digits, thin units, a real minus sign, and never an interval without its n."""

from math import floor, isfinite, log10

from reports.summary import Estimate

NONE = "–"  # not measured or not defined


def number(value: float | None, digits: int = 3) -> str:
    """`value` with `digits` significant digits, never in scientific notation; large ones in full with separators."""
    if value is None or not isfinite(value):
        return NONE
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")  # first, since rounding may add a digit: 9.999 to 10.0
    decimals = max(0, digits - 1 - floor(log10(abs(rounded))))
    return f"{rounded:,.{decimals}f}".replace("-", "−")


def fixed(value: float | None, decimals: int = 1) -> str:
    """`value` with a fixed number of decimals, so that a column lines up."""
    if value is None or not isfinite(value):
        return NONE
    text = f"{value:,.{decimals}f}"
    return text.replace("-", "−") if float(text.replace(",", "")) else text.lstrip("-")


def signed(value: float, decimals: int = 1) -> str:
    """`value` with its sign, also when it is above 0."""
    text = fixed(value, decimals)
    return f"+{text}" if float(text.replace(",", "").replace("−", "-")) > 0 else text


def interval(estimate: Estimate, scale: float = 1.0, decimals: int | None = None) -> str:
    """`[low, high]` in the scaled unit, or '' where the sample is too small for one."""
    if estimate.low is None or estimate.high is None:
        return ""
    shown = [
        number(b * scale) if decimals is None else fixed(b * scale, decimals) for b in (estimate.low, estimate.high)
    ]
    return f"[{shown[0]}, {shown[1]}]"


def with_interval(estimate: Estimate, scale: float = 1.0, decimals: int | None = None, unit: str = "") -> str:
    """`24.1 ms [23.9, 24.4]`, or without the brackets where there is no interval."""
    value = estimate.value * scale
    shown = number(value) if decimals is None else fixed(value, decimals)
    return f"{shown}{unit} {interval(estimate, scale, decimals)}".rstrip()


def workload(length: int | None, batch_size: int) -> str:
    """`128 tokens, batch 1`."""
    return f"{'natural length' if length is None else f'{length} tokens'}, batch {batch_size}"


def p_value(p: float) -> str:
    """`p = 0.03`, or `p < 0.01` below a hundredth, which is as far as a thousand resamples say reliably."""
    return "p < 0.01" if p < 0.01 else f"p = {p:.2f}"


def listed(words: list[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
