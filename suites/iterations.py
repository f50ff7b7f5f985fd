"""What another pass buys: mask-predict along two lines, iterations at length beam 3 and length beam at 4 iterations."""

from suites.quality import plan

_T = [f"mask_predict:n_iterations={t}:length_beam=3" for t in range(1, 11)]
_BEAM = [f"mask_predict:n_iterations=4:length_beam={beam}" for beam in (1, 2, 4, 5)]  # 3 is on the other line
CONTESTANTS = ("copy", "ar", *_T, *_BEAM)  # the first two: what the lines are measured against
SENTENCES = 300

__all__ = ["CONTESTANTS", "SENTENCES", "plan"]
