"""Names and numbers: which count as facts, and what keeping one means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.base import corpus_score, skipped
from metrics.name_recall import NAME_RECALL

MEETING = "So Sarah met Sarah's brother in 1920."


@pytest.fixture(scope="session")
def kept(said):
    def of_texts(text, reference, source=None):
        return NAME_RECALL.statistics(said(text, reference=reference, source=reference if source is None else source))

    return of_texts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MEETING, (3, 3)),  # Sarah twice, 1920 once
        ("So Sarah met Sara's brother in 1920.", (2, 3)),  # the second mention varies
        ("Sarah, Sarah, Sarah and Sarah in 1920.", (3, 3)),  # saying it oftener earns nothing
        ("So Sarah met Sarah's brother in 1921.", (2, 3)),
        ("so SARAH met sarah", (0, 3)),  # a name is spelt as it is spelt
        ("", (0, 3)),
    ],
)
def test_a_fact_counts_as_often_as_the_reference_has_it(kept, text, expected):
    assert kept(text, MEETING) == expected


@pytest.mark.parametrize(
    "reference",
    [
        "Behold the man.",
        "Go there! Come here? Sit down. Then rise.",
        'He said, "Please go."',
        "He said, 'Please go.'",
        "then I went and I saw",
        "¿Quién va? dijo: ¡Vamos!",
        "nothing here has a name",
        "",
    ],
)
def test_sentence_first_words_and_i_are_no_names(kept, reference):
    assert kept(reference, reference) == (0, 0)


def test_a_name_known_from_elsewhere_counts_at_the_start_of_a_sentence_too(kept):
    assert kept("Rome fell.", "They left Rome. Rome fell.") == (1, 2)


def test_only_facts_of_source_and_reference_count(kept):
    reference = "the word of Yahweh came to Moses"
    assert kept(reference, reference, source="the word of the LORD came unto Moses") == (1, 1)


def test_numbers_count_anywhere_and_whole(kept):
    assert kept("1,000 men and 3 ships.", "1,000 men and 3.5 ships.") == (1, 2)


def test_accents_match_however_they_are_encoded(kept):
    assert kept("vino Jose\u0301.", "vino Jos\u00e9.") == (1, 1)


def test_outputs_without_facts_are_skipped_and_counted(kept):
    rows = [kept("so it was", "so it was"), kept(MEETING, MEETING), kept("", "in Rome")]
    assert corpus_score(NAME_RECALL, rows) == 0.75  # 3 of 4
    assert skipped(rows) == 1
    assert corpus_score(NAME_RECALL, rows[:1]) is None


@given(text=st.text(), reference=st.text(), source=st.text())
def test_any_text_keeps_between_none_and_all(kept, text, reference, source):
    n_kept, n_facts = kept(text, reference, source)
    assert 0 <= n_kept <= n_facts


@given(reference=st.text("AbcDé 12.,'\"-!", max_size=60))
def test_the_reference_keeps_every_fact(kept, reference):
    n_kept, n_facts = kept(reference, reference)
    assert n_kept == n_facts
