"""Whether names and numbers survive: a fact stated in the source must not change, nor vary on its second mention."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

from metrics.base import Metric, Output, Statistics, ratio_of_sums

WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")  # splits at hyphens and apostrophes: "Abram's" holds "Abram"
STARTS_SENTENCE = re.compile(r"[.!?…]|(?:^|[\s(\[])[\"'“‘«¿¡]+$")  # in what stands before a word; opening quotes too


def _kept(output: Output) -> Statistics:
    """(facts the output keeps, facts), a fact counting as often as the reference has it."""
    source, said = set(_words(output.source)), Counter(_words(output.text))
    wanted = Counter(_words(output.reference))
    facts = {word: wanted[word] for word in set(_names_and_numbers(output.reference)) & source}
    return sum(min(count, said[word]) for word, count in facts.items()), sum(facts.values())


def _words(text: str) -> list[str]:
    return WORD.findall(unicodedata.normalize("NFC", text))


def _names_and_numbers(text: str) -> Iterator[str]:
    """Numbers, and capitalised words of two letters or more ("I" is no name) where a small letter could stand."""
    text, end = unicodedata.normalize("NFC", text), 0
    for match in WORD.finditer(text):
        word, before = match[0], text[end : match.start()]
        is_first = end == 0 or STARTS_SENTENCE.search(before)
        if word[0].isdigit() or (word[0].isupper() and len(word) > 1 and not is_first):
            yield word
        end = match.end()


NAME_RECALL = Metric(
    name="name_recall",
    unit="share",
    direction="higher",
    signature="name_recall|case:mixed|sentence-first:no|min-letters:2|counted:as-in-reference|version:1",
    definition="share of the capitalised words (not sentence-first) and numbers standing in source and reference that "
    "the output keeps, each counted as often as the reference has it; outputs with none are skipped and counted",
    source="ours",
    statistics=_kept,
    aggregate=ratio_of_sums,
)
