"""How an output was written, as a sample keeps it: a line a slot, not a picture a frame, so that it stays short."""

from dataclasses import dataclass
from typing import Literal

State = Literal["masked", "tentative", "final", "gone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedStep:
    """A step of the traced generation. Its seconds are left out: they hold the tracing, and are nobody's pace."""

    phase: str
    calls: int = 0
    positions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a slot held from a frame on."""

    frame: int  # index into Trace.frames
    token_id: int | None = None  # None: masked, or gone
    state: State = "final"


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedSlot:
    changes: tuple[Change, ...]  # by rising frame; before the first one the slot was not there


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    steps: tuple[TracedStep, ...]
    frames: tuple[int, ...]  # of each frame: the index of the step it shows the end of
    slots: tuple[TracedSlot, ...]  # every slot that ever was, from left to right
    pieces: dict[str, str]  # token id -> the text it writes

    def __post_init__(self) -> None:
        if list(self.frames) != sorted(self.frames) or not all(0 <= step < len(self.steps) for step in self.frames):
            raise ValueError(
                f"frames must point at the {len(self.steps)} steps, in their order, got {self.frames!r:.60}"
            )
        for slot in self.slots:
            places = [change.frame for change in slot.changes]
            if not places or places != sorted(set(places)) or not 0 <= places[0] <= places[-1] < len(self.frames):
                raise ValueError(
                    f"a slot's changes must be of rising frames below {len(self.frames)}, got {places!r:.60}"
                )
        ids = {str(one.token_id) for slot in self.slots for one in slot.changes if one.token_id is not None}
        if missing := sorted(ids - self.pieces.keys()):
            raise ValueError(f"no piece for the token id {missing[0]}")

    @property
    def token_ids(self) -> tuple[int, ...]:
        """What stands in the end."""
        last = (slot.changes[-1] for slot in self.slots)
        return tuple(one.token_id for one in last if one.state == "final" and one.token_id is not None)
