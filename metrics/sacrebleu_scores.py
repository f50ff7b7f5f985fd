"""BLEU (Papineni et al. 2002), chrF (Popović 2015) and TER (Snover et al. 2006), all by sacreBLEU (Post 2018).

Counting and formula are sacreBLEU's own, so a score equals its `corpus_score` to the last bit; ours are the summing
over outputs, and BLEU's formula where thousands of resampled sums are scored at once. Texts must be detokenised: a
sub-word marker or a split contraction is scored as it stands.
"""

import re
from functools import partial
from typing import Any

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from metrics.base import Array, Metric, Output, Statistics

Scorer = BLEU | CHRF | TER
POST = "Post 2018, A Call for Clarity in Reporting BLEU Scores"
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")  # kana, Han, Hangul


def bleu(target_language: str = "en") -> Metric:
    """The BLEU metric with the tokenizer of a language: its own for zh, ja and ko, 13a for every other.

    `target_language` is a two-letter code (ISO 639-1). An empty output scores 0. Raises ValueError for another kind of
    code, for ja or ko without sacreBLEU's extra of that name, and, when scoring, for a Chinese, Japanese or Korean
    reference under 13a, which splits at spaces and would take a clause for a word.
    """
    if not re.fullmatch("[a-z]{2}", target_language):
        raise ValueError(f"target_language must be a two-letter code such as 'en' or 'zh', got {target_language!r}")
    try:
        scorer = BLEU(trg_lang=target_language)
    except RuntimeError as error:
        raise ValueError(f"no tokenizer for {target_language!r}: pip install 'sacrebleu[{target_language}]'") from error
    return Metric(
        name="bleu",
        unit="points",
        direction="higher",
        signature=_signature(scorer),
        definition="brevity penalty times the geometric mean of the corpus's 1- to 4-gram precisions",
        source=f"Papineni et al. 2002; {POST}",
        statistics=partial(_statistics_13a if scorer.tokenizer_signature == "13a" else _statistics, scorer),
        aggregate=partial(_aggregate_bleu, scorer),
    )


def chrf() -> Metric:
    """The chrF2 metric: 0 for an empty output."""
    scorer = CHRF()
    return Metric(
        name="chrf",
        unit="points",
        direction="higher",
        signature=_signature(scorer),
        definition="F-score, recall counting double, of the corpus's character 1- to 6-grams",
        source=f"Popović 2015; {POST}",
        statistics=partial(_statistics, scorer),
        aggregate=partial(_aggregate, scorer),
    )


def ter() -> Metric:
    """The TER metric: 100 for an empty output, and more for a long wrong one."""
    scorer = TER()
    return Metric(
        name="ter",
        unit="%",
        direction="lower",
        signature=_signature(scorer),
        definition="edits (insert, delete, replace, move a run of words) in % of reference words",
        source=f"Snover et al. 2006; {POST}",
        statistics=partial(_statistics, scorer),
        aggregate=partial(_aggregate, scorer),
    )


def _signature(scorer: Scorer) -> str:
    scorer.corpus_score(["a"], [["a"]])  # a signature names the number of references, known only once it has scored
    return str(scorer.get_signature())


def _statistics_13a(scorer: Scorer, output: Output) -> Statistics:
    if 2 * len(UNSPACED.findall(output.reference)) > len(output.reference):
        raise ValueError(f"BLEU under 13a cannot split this reference: set target_language ({output.reference[:30]!r})")
    return _statistics(scorer, output)


def _statistics(scorer: Scorer, output: Output) -> Statistics:
    return tuple(scorer._extract_corpus_statistics([output.text], [[output.reference]])[0])


def _aggregate_bleu(scorer: Scorer, sums: Array) -> Array:
    """One score is sacreBLEU's own; of many at once, as a bootstrap asks, those with a match in every order are ours.

    That case needs no smoothing, so it is the plain formula; the thousands of scores behind an interval then cost one
    pass over an array. It agrees with sacreBLEU's to rounding.
    """
    rows = sums.reshape(-1, sums.shape[-1])
    if len(rows) == 1:
        return _aggregate(scorer, sums)
    scores, plain = np.empty(len(rows)), (rows[:, 2:] > 0).all(axis=1)
    written, wanted, counts = rows[plain, 0], rows[plain, 1], rows[plain, 2:].reshape(-1, 2, 4)
    precisions = np.log(counts[:, 0] / counts[:, 1]).mean(axis=1)
    scores[plain] = 100 * np.exp(np.minimum(0, 1 - wanted / written) + precisions)
    scores[~plain] = _aggregate(scorer, rows[~plain])
    return scores.reshape(sums.shape[:-1])


def _aggregate(scorer: Scorer, sums: Array) -> Array:
    rows: Any = sums.reshape(-1, sums.shape[-1]).tolist()
    return np.array([scorer._compute_score_from_stats(row).score for row in rows]).reshape(sums.shape[:-1])
