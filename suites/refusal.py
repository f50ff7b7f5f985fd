"""The one way in which a suite says no."""


class Refusal(Exception):
    """Bad input or a run that does not fit: one clear line for the user, and the exit code (2 or 4). Never a bug of ours."""

    def __init__(self, line: str, exit_code: int = 2) -> None:
        super().__init__(" ".join(line.split()))
        self.exit_code = exit_code
