"""Which of a row's tokens are kept and why it ended, by EOS, stop strings and `max_new_tokens`: one rule for all."""

from collections.abc import Callable, Sequence

from generators.base import Exact, FinishReason, Frame, Generation, Length, Request, Stopwatch, TokenRow
from generators.tracing import committed_at, settled

Decode = Callable[[Sequence[int]], str]


def limit(length: Length) -> int:
    """The most tokens a row may keep."""
    return length.n if isinstance(length, Exact) else length.max_new_tokens


def nothing(request: Request) -> Generation:
    """The answer where no token may be kept: no pass is made, and every row ended by its length."""
    n_rows = len(request.prompts)
    none = ((),) * n_rows
    return Generation(
        token_ids=none,
        tokens_raw=(0,) * n_rows,
        finish_reasons=(FinishReason.LENGTH,) * n_rows,
        steps=(),
        committed_at=none if request.trace else None,
        trace=none if request.trace else None,
    )


def answer(
    rows: Sequence[Sequence[int]], request: Request, stopwatch: Stopwatch, eos_token_id: int, decode: Decode,
    *, canvas: tuple[int, ...] | None = None, own_end: FinishReason = FinishReason.LENGTH,
    frames: Sequence[Sequence[Frame]] | None = None,
) -> Generation:  # fmt: skip
    """The generation whose emitted ids are `rows`; `own_end` is why a row ended that nothing here stopped.

    `frames`, a list a row whose last frame holds the ids emitted, become the trace of a request that asks for one.
    """
    ends = [finish(row, request, eos_token_id, decode) for row in rows]
    token_ids = tuple(kept for kept, _ in ends)
    trace = None if frames is None else tuple(map(settled, frames, token_ids))
    return Generation(
        token_ids=token_ids,
        tokens_raw=tuple(map(len, rows)),
        finish_reasons=tuple(reason or own_end for _, reason in ends),
        steps=tuple(stopwatch.steps),
        canvas_positions=canvas,
        committed_at=None if trace is None else tuple(map(committed_at, trace)),
        trace=trace,
    )


def finish(
    token_ids: Sequence[int], request: Request, eos_token_id: int, decode: Decode
) -> tuple[TokenRow, FinishReason | None]:
    """The kept tokens of a row and its finish reason, None while it may go on.

    EOS right behind the last token that may be kept still counts as EOS. A stop string is looked for in the decoded
    text, so it matches across token borders; kept are the tokens whose text ends before it.
    """
    max_new_tokens = limit(request.length)
    row, reason = tuple(token_ids), None
    if eos_token_id in row[: max_new_tokens + 1]:
        row, reason = row[: row.index(eos_token_id)], FinishReason.EOS
    elif len(row) >= max_new_tokens:
        row, reason = row[:max_new_tokens], FinishReason.LENGTH
    stopped = before_stop(row, request.stop_strings, decode) if request.stop_strings else None
    return (row, reason) if stopped is None else (stopped, FinishReason.STOP_STRING)


def ended(row: Sequence[int], request: Request, eos_token_id: int, decode: Decode) -> bool:
    """Whether a row that grew by its last token needs no further one: EOS, or a stop string in its text."""
    if row[-1] == eos_token_id or not request.stop_strings:
        return row[-1] == eos_token_id
    return finish(row, request, eos_token_id, decode)[1] is not None


def before_stop(token_ids: TokenRow, stop_strings: Sequence[str], decode: Decode) -> TokenRow | None:
    """The tokens whose text ends before the earliest stop string, or None where there is none."""
    text = decode(token_ids)
    found = [place for place in (text.find(stop) for stop in stop_strings) if place >= 0]
    if not found:
        return None
    n_kept = len(token_ids)
    while n_kept and len(decode(token_ids[:n_kept])) > min(found):
        n_kept -= 1
    return token_ids[:n_kept]


def until(row: list[int], eos_token_id: int) -> list[int]:
    """What the row had emitted when it ended: its EOS is the last."""
    return row[: row.index(eos_token_id) + 1] if eos_token_id in row else row
