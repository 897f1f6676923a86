"""Writing results: beside the target first, then renamed, so that an interruption leaves the old file or none."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from boundby.analyzers.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator


def write(path: Path, data: bytes | str) -> None:
    """Put `data` (text as UTF-8) at `path` in one step, making its folder. Raises `OutputError`."""
    with replacing(path) as beside:
        beside.write_bytes(data.encode() if isinstance(data, str) else data)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file beside `path` to write to; it takes the place of `path` if the block succeeds, and vanishes if not."""
    if path.is_dir():
        raise OutputError(f"{path}: is a folder; name a file in it")
    beside = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:80]}.", suffix=".tmp", dir=path.parent)
        os.close(handle)
        beside = Path(name)
        yield beside
        beside.chmod(0o666 & ~_umask())
        beside.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror or error}); choose another place") from error
    finally:
        if beside is not None:
            with suppress(OSError):
                beside.unlink()


def folder(path: Path) -> Path:
    """`path` as an existing folder that files can be written to. Raises `OutputError`."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be made a folder ({error.strerror or error}); choose another place"
        ) from error
    if not os.access(path, os.W_OK):
        raise OutputError(f"{path}: cannot be written to; choose another place")
    return path


def check_writable(path: Path) -> None:
    """Fail before hours of work rather than after them: raise `OutputError` if `path` can't be written."""
    if path.is_dir():
        raise OutputError(f"{path}: is a folder; name a file in it")
    parent = next((parent for parent in path.absolute().parents if parent.exists()), None)
    if parent is None or not parent.is_dir() or not os.access(parent, os.W_OK):
        raise OutputError(f"{path}: {parent} cannot be written to; choose another place")


def _umask() -> int:
    # mkstemp makes private files; results should get the mode that any other new file gets.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
