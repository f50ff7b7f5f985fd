"""Shapes known from the literature, each judged by an interval: reproduced, not reproduced, or undecided."""

from collections.abc import Mapping, Sequence

from metrics.significance import change_of_ratio, gap_closed, holm
from reports.comparing import SEED, Table, difference
from reports.evidence import Claim, Judgement
from reports.formats import signed
from reports.gains import gain_of_gains
from reports.summary import Contestant, Difference, Estimate
from suites.records import Record, Run

SUITE = "literature"
MASK_PREDICT = "Ghazvininejad et al. 2019, Mask-Predict"
KASAI = "Kasai et al. 2021, Deep Encoder, Shallow Decoder"
FOUR_PASSES = {"weights": "cmlm", "n_iterations": "4"}
HUANG = "Zhou et al. 2020; Huang et al. 2022, Directed Acyclic Transformer, table 1"


def claims(run: Run, table: Table, order: Sequence[Contestant]) -> tuple[Claim, ...]:
    """Every claim, whatever the run can say of it; none where the run is of another suite."""
    if run.info.suite != SUITE:
        return ()
    scored = sorted({task for task, _ in table})
    task = scored[0] if scored else ""
    return (
        _iterations(table, order, task, "bleu", "BLEU rises with the number of passes"),
        _iterations(table, order, task, "repeated_token_rate", "repetition falls with the number of passes"),
        _length_beam(table, order, task),
        _distillation(table, order, task),
        _batch(run.records, order),
        _shallow(run.records, table, order, task),
    )


def judged(low: float | None, high: float | None, above: float = 0.0) -> Judgement:
    """Reproduced where the whole interval lies above the bound, not reproduced where it lies below."""
    if low is None or high is None or low <= above <= high:
        return "undecided"
    return "reproduced" if low > above else "not reproduced"


def named(order: Sequence[Contestant], strategy: str, **knobs: str) -> str | None:
    """The label of the contestant of that strategy with those knobs, or None."""
    return next((c.label for c in order if c.strategy == strategy and knobs.items() <= dict(c.config).items()), None)


def _iterations(table: Table, order: Sequence[Contestant], task: str, metric: str, claim: str) -> Claim:
    """The most passes against the fewest, at one length beam."""
    unit = "BLEU" if metric == "bleu" else "% of tokens"
    passes = _knob(table, order, task, "n_iterations", "length_beam", "3")
    if len(passes) < 2:
        return _unknown(claim, MASK_PREDICT, "mask-predict was not scored with two numbers of passes")
    fewest, most = min(passes), max(passes)
    found = difference(table, task, metric, passes[most], passes[fewest])
    what = f"T = {most} minus T = {fewest}, {unit}"
    if found is None:
        return _unknown(claim, MASK_PREDICT, "fewer than two sentences were scored with both")
    rises = metric == "bleu"
    judgement = judged(found.low, found.high) if rises else judged(-found.high, -found.low)
    because = f"the interval must lie {'above' if rises else 'below'} 0"
    return Claim(
        claim=claim, source=MASK_PREDICT, judgement=judgement, what=what, value=_estimate(found), because=because
    )


def _length_beam(table: Table, order: Sequence[Contestant], task: str) -> Claim:
    """A few candidates against one, and many against a few: both tested at once."""
    claim = "more length candidates help, then hurt"
    beams = _knob(table, order, task, "length_beam", "n_iterations", "4")
    if len(beams) < 3 or 3 not in beams or max(beams) == 3:
        return _unknown(claim, MASK_PREDICT, "mask-predict was not scored with one, three and more length candidates")
    most = max(beams)
    helps, hurts = (difference(table, task, "bleu", beams[a], beams[b]) for a, b in ((3, min(beams)), (most, 3)))
    if helps is None or hurts is None:
        return _unknown(claim, MASK_PREDICT, "fewer than two sentences were scored with all of them")
    sure = [p < 0.05 for p in holm([helps.p_value, hurts.p_value])]
    right = [helps.value > 0, hurts.value < 0]
    judgement: Judgement = "reproduced" if all(sure) and all(right) else "undecided"
    if any(s and not r for s, r in zip(sure, right, strict=True)):
        judgement = "not reproduced"
    because = f"both must be significant by Holm's correction; from 3 to {most} candidates: {_signed(hurts)}"
    what = f"3 candidates minus {min(beams)}, BLEU"
    return Claim(
        claim=claim, source=MASK_PREDICT, judgement=judgement, what=what, value=_estimate(helps), because=because
    )


def _distillation(table: Table, order: Sequence[Contestant], task: str) -> Claim:
    """What distilled text gives a parallel model beyond what it gives an autoregressive one."""
    claim, source = "distillation helps a parallel model much and an autoregressive one little", HUANG
    scored = [c for c in order if (task, c.label) in table]
    students = (("ctc", "ctc", "ctc_raw"), ("mask_predict", "cmlm", "cmlm_raw"))
    pairs = ((named(scored, s, weights=good), named(scored, s, weights=raw)) for s, good, raw in students)
    nat = next(((good, raw) for good, raw in pairs if good and raw), None)
    ar = named(scored, "ar", weights="ar_student"), named(scored, "ar", weights="ar")
    if nat is None:
        return _unknown(claim, source, "no parallel model trained on the original text took part: none is shipped")
    if ar[0] is None or ar[1] is None:
        return _unknown(
            claim, source, "the autoregressive models on distilled and on original text were not both scored"
        )
    found = gain_of_gains(table, task, nat, (ar[0], ar[1]))
    if found is None:
        return _unknown(claim, source, "fewer than two sentences were scored with all four models")
    gain, extra = found
    judgement = _both(judged(gain.low, gain.high), judged(extra.low, extra.high))
    because = (
        f"the parallel model's own gain, {_signed(gain)}, and its excess over the autoregressive one's must both lie "
        "above 0"
    )
    what = "gain of the parallel model minus gain of the autoregressive one, BLEU"
    return Claim(claim=claim, source=source, judgement=judgement, what=what, value=extra, because=because)


def _batch(records: Sequence[Record], order: Sequence[Contestant]) -> Claim:
    """The speedup at the largest batch both managed, over that at batch 1."""
    claim = "a parallel model's speedup shrinks with batch"
    racing = _timed(records, order)
    ar, nat = named(racing, "ar", weights="ar_student"), named(racing, "mask_predict", **FOUR_PASSES)
    times = {label: _by_batch(records, label) for label in (ar, nat) if label}
    if ar is None or nat is None:
        return _unknown(claim, KASAI, "ar and mask-predict with 4 passes were not both timed")
    sizes = sorted(times[ar].keys() & times[nat].keys())
    if len(sizes) < 2:
        return _unknown(claim, KASAI, "they were not timed at two batch sizes")
    first, last = (_paired(times[ar][size], times[nat][size]) for size in (sizes[0], sizes[-1]))
    found = change_of_ratio((first[0], first[1]), (last[0], last[1]), SEED)
    if found is None:
        return _unknown(claim, KASAI, "fewer than 6 repeats were timed")
    what = f"speedup over ar at batch {sizes[-1]}, over that at batch {sizes[0]}, ratio"
    return Claim(
        claim=claim,
        source=KASAI,
        judgement=judged(-found.high, -found.low, -1.0),
        what=what,
        value=Estimate(found.value, found.low, found.high, min(len(first[0]), len(last[0]))),
        because="the interval must lie below 1",
    )


def _shallow(records: Sequence[Record], table: Table, order: Sequence[Contestant], task: str) -> Claim:
    """How much of the time between AR and mask-predict one decoder layer saves, and at what BLEU."""
    claim = "an autoregressive model with a shallow decoder closes much of the gap"
    racing = _timed(records, order)
    labels = (
        named(racing, "ar", weights="ar_student"),
        named(racing, "mask_predict", **FOUR_PASSES),
        named(racing, "ar", weights="ar_shallow"),
    )
    if None in labels:
        return _unknown(claim, KASAI, "ar, its shallow variant and mask-predict with 4 passes were not all timed")
    ar, nat, shallow = (label or "" for label in labels)
    times = [_by_batch(records, label) for label in (ar, nat, shallow)]
    sizes = sorted(set.intersection(*map(set, times)))
    if not sizes:
        return _unknown(claim, KASAI, "they were not all timed at one batch size")
    sides = _paired(*(side[sizes[0]] for side in times))
    if len(sides[0]) < 6:
        return _unknown(claim, KASAI, "fewer than 6 repeats were timed")
    found = gap_closed(sides[0], sides[1], sides[2], SEED)
    if found is None:
        return _unknown(claim, KASAI, "there is no gap: mask-predict with 4 passes was not surely faster than ar")
    bleu = difference(table, task, "bleu", shallow, nat)
    judgement = judged(found.low, found.high, 0.5)
    if judgement == "reproduced" and (bleu is None or bleu.low < -0.3):
        judgement = "undecided" if bleu is None or bleu.high >= 0 else "not reproduced"
    cost = "not scored" if bleu is None else _signed(bleu)
    because = f"at least half of the gap, at no worse a BLEU than mask-predict's; here {cost}"
    what = f"part of the time between ar and mask-predict that is saved, batch {sizes[0]}, share"
    value = Estimate(found.value, found.low, found.high, len(sides[0]))
    return Claim(claim=claim, source=KASAI, judgement=judgement, what=what, value=value, because=because)


def _knob(table: Table, order: Sequence[Contestant], task: str, knob: str, held: str, usual: str) -> dict[int, str]:
    """The scored mask-predict contestants on distilled text by one knob, the other held at its usual value."""
    wanted = {"weights": "cmlm", held: usual}
    found = [(c, dict(c.config)) for c in order if c.strategy == "mask_predict" and (task, c.label) in table]
    return {int(config[knob]): c.label for c, config in found if wanted.items() <= config.items() and knob in config}


def _timed(records: Sequence[Record], order: Sequence[Contestant]) -> list[Contestant]:
    """Those that were timed at a length: of several with 4 passes, most are scored alone."""
    return [contestant for contestant in order if _by_batch(records, contestant.label)]


def _by_batch(records: Sequence[Record], label: str) -> dict[int, dict[int, float]]:
    """Seconds a kept token by batch size and repeat, at the one length that a batch suite times."""
    found: dict[int, dict[int, float]] = {}
    for r in records:
        if r.label == label and r.mode != "batched" and r.length is not None and r.status == "ok" and r.latency_s:
            found.setdefault(r.batch_size, {})[r.repeat] = r.latency_s / max(1, sum(r.tokens_kept))
    return found


def _paired(*sides: Mapping[int, float]) -> list[list[float]]:
    """The values of the repeats that all sides have, in the same order."""
    common = sorted(set.intersection(*(set(side) for side in sides)))
    return [[side[repeat] for repeat in common] for side in sides]


def _both(one: Judgement, other: Judgement) -> Judgement:
    if "not reproduced" in (one, other):
        return "not reproduced"
    return "reproduced" if one == other == "reproduced" else "undecided"


def _signed(found: Difference | Estimate) -> str:
    """`+0.79 BLEU [+0.14, +1.41]`."""
    bounds = "" if found.low is None else f" [{signed(found.low, 2)}, {signed(found.high or 0.0, 2)}]"
    return f"{signed(found.value, 2)} BLEU{bounds}"


def _estimate(found: Difference) -> Estimate:
    return Estimate(found.value, found.low, found.high, found.n)


def _unknown(claim: str, source: str, because: str) -> Claim:
    return Claim(claim=claim, source=source, judgement="undecided", what="", value=None, because=because)
