"""Names, colours and markers."""

import itertools

import numpy as np
import pytest

from generators.registry import STRATEGIES
from reports.names import AR_STRATEGIES, LOOKS, OTHER_LOOKS, Look, contestants, kind_of, looks, squeezed, visible
from tests.reports.synthetic import record

PAGES = {"light": "#ffffff", "dark": "#1a1d20"}  # the panel behind a figure, as template.html has it
# Machado, Oliveira & Fernandes 2009, table 1, severity 1.0; for linear RGB
BLINDNESSES = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
}


def names(*labels: str) -> list[str]:
    made = [record(label, mode="exact", length=8, repeat=0, latency_s=0.1, kept=8) for label in labels]
    return [contestant.name for contestant in contestants(made, [])]


def linear(colour: str) -> np.ndarray:
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


# Björn Ottosson 2020, Oklab: a space in which distance follows what the eye tells apart
TO_CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
TO_LAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]


def oklab(rgb: np.ndarray) -> np.ndarray:
    return np.array(TO_LAB) @ np.cbrt(np.clip(np.array(TO_CONES) @ rgb, 0, None))


def theme(look: Look, name: str) -> str:
    return look.light if name == "light" else look.dark


@pytest.mark.parametrize("page", PAGES)
def test_every_colour_reads_as_text_on_its_page(page: str) -> None:
    for look in (*LOOKS.values(), *OTHER_LOOKS):
        assert contrast(theme(look, page), PAGES[page]) >= 4.5, look  # WCAG 2, level AA


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("blindness", BLINDNESSES)
def test_colours_of_two_strategies_differ_under_colour_blindness(page: str, blindness: str) -> None:
    for (a, look_a), (b, look_b) in itertools.combinations(LOOKS.items(), 2):
        seen = [oklab(np.array(BLINDNESSES[blindness]) @ linear(theme(look, page))) for look in (look_a, look_b)]
        assert np.linalg.norm(seen[0] - seen[1]) > 0.02, (a, b)  # the least distance that is reliably seen


def test_no_two_strategies_share_a_colour_marker_glyph_or_variable() -> None:
    every = [*LOOKS.values(), *OTHER_LOOKS]
    for attribute in ("css", "light", "dark", "marker", "glyph"):
        assert len({getattr(look, attribute) for look in every}) == len(every)


def test_every_strategy_of_ours_has_a_look_of_its_own() -> None:
    assert STRATEGIES.keys() == LOOKS.keys()


def test_every_strategy_of_ours_is_of_its_kind() -> None:
    kinds = {name: kind_of(name) for name in STRATEGIES if name not in AR_STRATEGIES}
    assert kinds == {
        "ctc": "parallel",
        "mask_predict": "parallel",
        "nat": "parallel",
        "semi_ar": "semi-autoregressive",
        "speculative": "speculative",
        "teacher_forcing": "floor",
        "copy": "copy",
    }


def test_an_unknown_strategy_gets_a_look_that_no_known_one_has() -> None:
    assert looks(["ar", "levenshtein", "diffusion"])["diffusion"] == OTHER_LOOKS[0]
    assert looks(["levenshtein", "diffusion"])["levenshtein"] == OTHER_LOOKS[1]


def test_short_names_drop_what_goes_without_saying() -> None:
    labels = [
        "ar",
        "ar:weights=ar_shallow",
        "ctranslate2:compute_type=int8",
        "mask_predict:n_iterations=10:length_beam=3",
        "semi_ar:block_length=4",
        "speculative:drafter=ar_draft:draft_length=8",
    ]
    assert names(*labels) == [
        "ar",
        "ar shallow",
        "ctranslate2 int8",
        "mask_predict T=10 b=3",
        "semi_ar k=4",
        "speculative ar_draft k=8",
    ]


@pytest.mark.parametrize(
    ("name", "squeezed_name"),
    [
        ("mask_predict", "mask_predict"),
        ("ctranslate2 shallow int8", "ctr… shallow int8"),
        ("a_very_long_strategy_name", "a_very_long_stra…"),
        ("x " + "y" * 30, "x yyyyyyyyyyyyyy…"),
    ],
)
def test_where_room_is_short_the_strategy_is_cut_before_its_knobs(name: str, squeezed_name: str) -> None:
    assert squeezed(name, 17) == squeezed_name


def test_two_labels_never_share_a_name() -> None:
    found = names("ar:weights=/a/model", "ar:weights=/b/model")
    assert len(set(found)) == 2


def test_numbers_in_labels_sort_as_numbers_and_ar_comes_first() -> None:
    labels = ["copy", "speculative", "semi_ar", "mask_predict:n_iterations=10", "mask_predict:n_iterations=4", "ar"]
    assert names(*labels) == ["ar", "mask_predict T=4", "mask_predict T=10", "semi_ar", "speculative", "copy"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[31mred", "⟨U+001B⟩[31mred"),
        ("nul\x00", "nul⟨U+0000⟩"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("lone \ud800", "lone ⟨U+D800⟩"),
        ("שלום 😀", "שלום 😀"),
    ],
)
def test_characters_that_act_are_shown_instead(text: str, shown: str) -> None:
    assert visible(text) == shown
