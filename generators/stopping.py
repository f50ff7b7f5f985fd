"""Which of a row's tokens are kept, and why it ended: EOS, stop strings and `max_new_tokens`, one rule for every strategy."""

from collections.abc import Callable, Sequence

from generators.base import Exact, FinishReason, Generation, Length, Request, Stopwatch, TokenRow

Decode = Callable[[Sequence[int]], str]


def limit(length: Length) -> int:
    """The most tokens a row may keep."""
    return length.n if isinstance(length, Exact) else length.max_new_tokens


def finish(
    token_ids: Sequence[int], *, eos_token_id: int, max_new_tokens: int, stop_strings: Sequence[str] = (), decode: Decode | None = None
) -> tuple[TokenRow, FinishReason | None]:
    """The kept tokens of a row and its finish reason, None while it may go on.

    A stop string is looked for in the decoded text, so it matches across token borders; kept are the tokens whose text
    ends before it. `decode` is needed only with stop strings.
    """
    kept, reason = tuple(token_ids[:max_new_tokens]), None
    if eos_token_id in kept:
        kept, reason = kept[: kept.index(eos_token_id)], FinishReason.EOS
    elif len(kept) == max_new_tokens:
        reason = FinishReason.LENGTH
    if stop_strings and decode is not None:
        stopped = before_stop(kept, stop_strings, decode)
        if stopped is not None:
            return stopped, FinishReason.STOP_STRING
    return kept, reason


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


def answer(
    rows: Sequence[Sequence[int]],
    request: Request,
    stopwatch: Stopwatch,
    *,
    eos_token_id: int,
    decode: Decode,
    canvas: tuple[int, ...] | None = None,
    own_end: FinishReason = FinishReason.LENGTH,
) -> Generation:
    """The generation whose emitted ids are `rows`; `own_end` is why a row ended that neither EOS nor a limit stopped."""
    ends = [
        finish(row, eos_token_id=eos_token_id, max_new_tokens=limit(request.length), stop_strings=request.stop_strings, decode=decode)
        for row in rows
    ]
    return Generation(
        token_ids=tuple(kept for kept, _ in ends),
        tokens_raw=tuple(map(len, rows)),
        finish_reasons=tuple(reason or own_end for _, reason in ends),
        steps=tuple(stopwatch.steps),
        canvas_positions=canvas,
    )
