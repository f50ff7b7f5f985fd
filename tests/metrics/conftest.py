"""Outputs to measure: one builder in which a test names only what it is about, and a few real sentences."""

from collections.abc import Callable

import pytest

from metrics.base import Output

# (King James, derived from the World English Bible), public domain; from the project's rewriting test set:
# Genesis 13:1, 13:3, 13:8; 2 Kings 6:33; Matthew 17:4; Acts 5:29
VERSES = (
    (
        "And Abram went up out of Egypt, he, and his wife, and all that he had, and Lot with him, into the south.",
        "Abram went up out of Egypt - he, his wife, all that he had, and Lot with him - into the South.",
    ),
    (
        "And he went on his journeys from the south even to Beth-el, unto the place where his tent had been at the "
        "beginning, between Beth-el and Hai;",
        "He went on his journeys from the South as far as Bethel, to the place where his tent had been at the "
        "beginning, between Bethel and Ai,",
    ),
    (
        "And Abram said unto Lot, Let there be no strife, I pray thee, between me and thee, and between my herdmen and "
        "thy herdmen; for we be brethren.",
        'Abram said to Lot, "Please, let there be no strife between you and me, and between your herdsmen and my '
        "herdsmen; for we are relatives.",
    ),
    (
        "And while he yet talked with them, behold, the messenger came down unto him: and he said, Behold, this evil "
        "is of the LORD; what should I wait for the LORD any longer?",
        "While he was still talking with them, behold, the messenger came down to him. Then he said, "
        '"Behold, this evil is from Yahweh. Why should I wait for Yahweh any longer?"',
    ),
    (
        "Then answered Peter, and said unto Jesus, Lord, it is good for us to be here: if thou wilt, let us make here "
        "three tabernacles; one for thee, and one for Moses, and one for Elias.",
        "Peter answered and said to Jesus, \"Lord, it is good for us to be here. If you want, let's make three tents "
        'here: one for you, one for Moses, and one for Elijah."',
    ),
    (
        "Then Peter and the other apostles answered and said, We ought to obey God rather than men.",
        'But Peter and the apostles answered, "We must obey God rather than men.',
    ),
)


def _said(
    text: str = "",
    *,
    reference: str = "",
    source: str = "",
    token_ids: tuple[int, ...] = (),
    reference_ids: tuple[int, ...] = (),
) -> Output:
    return Output(token_ids=token_ids, text=text, source=source, reference=reference, reference_ids=reference_ids)


@pytest.fixture(scope="session")
def said() -> Callable[..., Output]:
    """A builder of outputs whose unnamed parts are empty."""
    return _said


@pytest.fixture(scope="session")
def copied_verses() -> list[Output]:
    """Real sentences, each answered by its own source; the last answered by nothing."""
    outputs = [_said(source, source=source, reference=target) for source, target in VERSES]
    return [*outputs, _said("", source=VERSES[0][0], reference=VERSES[0][1])]
