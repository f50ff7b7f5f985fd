"""How a row was written, for requests that ask for it: frames from what a strategy kept, and the order of commitment.

A strategy marks a token FINAL where its algorithm would let it stand. What happens to it later decides: a token that
is masked again, replaced, taken out or cut off was TENTATIVE all along.
"""

from collections.abc import Iterable, Sequence

from generators.base import Frame, Slot, SlotState, TokenRow


def slots(token_ids: Iterable[int], state: SlotState, masked_id: int | None = None) -> tuple[Slot, ...]:
    """A slot a token, all in `state`, their places their uids; where `masked_id` stands, there is no token."""
    return tuple(
        Slot(place, token_id, SlotState.MASKED if token_id == masked_id else state)
        for place, token_id in enumerate(token_ids)
    )


def grown(token_ids: Sequence[int], first_step: int, n_at_once: int = 1) -> list[Frame]:
    """The frames of a row that grew from the left, `n_at_once` tokens a step, from `first_step` on."""
    whole = slots(token_ids, SlotState.FINAL)
    ends = range(n_at_once, len(whole) + n_at_once, n_at_once)
    return [Frame(first_step + step, whole[:end]) for step, end in enumerate(ends)]


def settled(frames: Sequence[Frame], kept: TokenRow) -> tuple[Frame, ...]:
    """The frames with the last one cut to the `kept` tokens, and FINAL only where a token stands to the end."""
    standing: dict[int, int] | None = None
    found: list[Frame] = []
    for step, row in reversed(frames):
        row = row[: len(kept)] if standing is None else row
        checked = tuple(
            Slot(uid, token_id, SlotState.TENTATIVE)
            if state is SlotState.FINAL and standing is not None and standing.get(uid) != token_id
            else Slot(uid, token_id, state)
            for uid, token_id, state in row
        )
        standing = {uid: token_id for uid, token_id, state in checked if state is SlotState.FINAL}
        found.append(Frame(step, checked))
    return tuple(reversed(found))


def committed_at(frames: Sequence[Frame]) -> tuple[int, ...]:
    """The step from which each token of the last of these settled frames is FINAL, from left to right."""
    first: dict[int, int] = {}
    for step, row in frames:
        for uid, _, state in row:
            if state is SlotState.FINAL:
                first.setdefault(uid, step)
    return tuple(first[uid] for uid, _, _ in frames[-1].slots) if frames else ()
