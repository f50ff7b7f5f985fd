"""What an engine makes of a model, kept in the user's cache so that it is made once."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from generators.models.files import file_hash


def kept(engine: str, made_of: Iterable[Path], make: Callable[[Path], None]) -> Path:
    """The folder that `make` fills from the files `made_of`; it is called where the cache has none of that content.

    Raises ValueError where the cache cannot be written.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "arnar" / engine
    target = home / hashlib.sha256("".join(map(file_hash, made_of)).encode()).hexdigest()[:24]
    if not target.is_dir():
        try:
            _make_whole(target, make)
        except OSError as error:
            raise ValueError(f"cannot keep converted weights in {home} ({error}); set XDG_CACHE_HOME") from None
    return target


def _make_whole(target: Path, make: Callable[[Path], None]) -> None:
    """Write `target` whole or not at all, and leave it alone where another process was first."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".half-") as half_made:
        make(Path(half_made, "model"))
        try:
            Path(half_made, "model").replace(target)
        except OSError:
            if not target.is_dir():
                raise
