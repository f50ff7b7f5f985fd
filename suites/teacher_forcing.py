"""One parallel scoring pass beside the one-shot strategies: the floor that none of them can get under."""

from suites.latency import plan

CONTESTANTS = ("teacher_forcing", "ctc", "mask_predict:n_iterations=1", "mask_predict:n_iterations=4", "ar")

__all__ = ["CONTESTANTS", "plan"]
