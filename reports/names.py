"""How contestants are called and drawn: one short name, one colour and one marker a strategy, everywhere."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, get_args

from reports.summary import Contestant, Kind
from suites.records import Record

AR_STRATEGIES = ("ar", "ar_uncached", "hf_generate", "ctranslate2")
OTHER_KINDS: dict[str, Kind] = {
    "semi_ar": "semi-autoregressive",
    "speculative": "speculative",
    "teacher_forcing": "floor",
    "copy": "copy",
}
NEVER_TEXT = "\ufffe\uffff\u2028\u2029\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
KNOB_SIGNS = {"n_iterations": "T=", "length_beam": "b=", "beam_size": "beam ", "compute_type": "", "drafter": ""}
KNOB_SIGNS |= {"engine": "", "dtype": ""}
KNOB_SIGNS |= {"block_length": "k=", "draft_length": "k="}  # k: tokens a pass, written or drafted


@dataclass(frozen=True, slots=True)
class Look:
    css: str  # part of a CSS variable's name
    light: str
    dark: str
    marker: str  # matplotlib's
    glyph: str  # the same shape as text


# Each colour reads as text on its page (contrast above 4.5) and stays apart under the common colour blindnesses;
# a test computes both. The marker says the same again without colour.
LOOKS = {
    "ar": Look("ar", "#1d5fa8", "#7fb6f2", "o", "●"),
    "ar_uncached": Look("ar-uncached", "#4f6d7a", "#a3c0cc", "h", "⬢"),
    "hf_generate": Look("hf", "#7d5a00", "#e3c04f", "^", "▲"),
    "ctranslate2": Look("ct2", "#8c2f86", "#e79be0", "s", "■"),
    "ctc": Look("ctc", "#b83a0c", "#ff9b6b", "D", "◆"),
    "mask_predict": Look("mask-predict", "#00704f", "#4fd0a3", "P", "✚"),
    "nat": Look("nat", "#603018", "#d87800", "<", "◀"),
    "semi_ar": Look("semi-ar", "#3000d8", "#9078f0", "v", "▼"),
    "speculative": Look("speculative", "#d81860", "#c07878", ">", "▶"),
    "teacher_forcing": Look("teacher-forcing", "#004848", "#48f0f0", "p", "⬟"),
    "copy": Look("copy", "#6a6a66", "#a9aaa4", "X", "✖"),
}
OTHER_LOOKS = (
    Look("other-1", "#780078", "#f048a8", "d", "♦"),
    Look("other-2", "#0048f0", "#7890c0", "H", "⬣"),
    Look("other-3", "#7800a8", "#f030f0", "*", "✶"),
)
LINE_STYLES = ("-", (0, (5, 2)), (0, (1, 1.4)), (0, (5, 1.5, 1, 1.5)))


def contestants(records: Iterable[Record], planned: Iterable[str]) -> tuple[Contestant, ...]:
    """The contestants of a run in the order of kinds, AR first and copy last; numbers in labels sort as numbers.

    A `planned` label without any record takes part too: its strategy is read off the label, its knobs are unknown.
    """
    known: dict[str, tuple[str, dict[str, Any]]] = {label: (label.split(":")[0], {}) for label in planned}
    known |= {record.label: (record.strategy, record.config) for record in records}
    ordered = sorted(known, key=lambda label: (_rank(known[label][0]), known[label][0], _knobs_key(label)))
    short = _unique(ordered)
    seen: dict[str, int] = {}
    found = []
    for label in ordered:
        strategy, knobs = known[label]
        variant = seen[strategy] = seen.get(strategy, -1) + 1
        config = tuple(sorted((str(k), str(v)) for k, v in knobs.items()))
        found.append(Contestant(label, short[label], strategy, kind_of(strategy), config, variant))
    return tuple(found)


def kind_of(strategy: str) -> Kind:
    """How a strategy decodes: see `Kind`. One that is not known here is taken for a parallel one."""
    if strategy in AR_STRATEGIES:
        return "ar"
    return OTHER_KINDS.get(strategy, "parallel")


def looks(strategies: Iterable[str]) -> dict[str, Look]:
    """A look for each strategy; unknown ones take the spare looks in alphabetical order."""
    unknown = sorted(set(strategies) - LOOKS.keys())
    return LOOKS | {name: OTHER_LOOKS[i % len(OTHER_LOOKS)] for i, name in enumerate(unknown)}


def visible(text: str) -> str:
    """`text` with control and direction characters shown as code points, so that none of them can act."""
    return "".join(_shown(char) for char in text)


def clipped(text: str, width: int) -> str:
    """`text` in at most `width` characters, the cut marked by an ellipsis."""
    return text if len(text) <= width else text[: width - 1] + "…"


def squeezed(name: str, width: int) -> str:
    """A contestant's short name in at most `width` characters: the strategy is cut before its knobs are."""
    strategy, space, knobs = name.partition(" ")
    room = width - len(space + knobs)
    return clipped(strategy, room) + space + knobs if room >= 4 else clipped(name, width)


def _shown(char: str) -> str:
    acts = unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t"
    return f"⟨U+{ord(char):04X}⟩" if acts or char in NEVER_TEXT else char


def _rank(strategy: str) -> int:
    return get_args(Kind).index(kind_of(strategy))


def _knobs_key(label: str) -> list[tuple[int, str]]:
    """Sorts `n_iterations=10` behind `n_iterations=4`."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in label.replace("=", ":").split(":")]


def _unique(labels: list[str]) -> dict[str, str]:
    """Short names, or the whole label where two would be the same."""
    short = {label: _short(label) for label in labels}
    taken = list(short.values())
    return {label: name if taken.count(name) == 1 else clipped(visible(label), 60) for label, name in short.items()}


def _short(label: str) -> str:
    strategy, *knobs = visible(label).split(":")
    return clipped(" ".join([strategy, *map(_short_knob, knobs)]), 32)


def _short_knob(knob: str) -> str:
    name, _, value = knob.partition("=")
    if name == "weights" and value != "ar":  # "ar ar" would say nothing
        return value.removeprefix("ar_").rstrip("/").rsplit("/", 1)[-1]
    return KNOB_SIGNS.get(name, f"{name}=") + value
