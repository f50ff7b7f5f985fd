"""The one way in which a suite says no."""


class Refusal(Exception):
    """Bad input, or a run that does not fit: one clear line and the exit code, 2 or 4. Never our own bug."""

    def __init__(self, line: str, exit_code: int = 2) -> None:
        super().__init__(" ".join(line.split()))
        self.exit_code = exit_code
