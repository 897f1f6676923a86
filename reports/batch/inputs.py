"""Which traces a batch is about: files, folders (recursive), globs and URLs, each once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from boundby.analyzers.errors import UnreadableTraceError

SUFFIXES = (".json", ".json.gz", ".json.zst")
INFLATES = 12
"""Kineto JSON shrinks about this many times by gzip."""


class Input(NamedTuple):
    """One trace: its path or URL, and its size in bytes as stored (0: unknown)."""

    source: str
    size: int

    @property
    def weight(self) -> int:
        """Bytes of text, roughly: what the work is proportional to."""
        return self.size * (INFLATES if self.source.endswith((".gz", ".zst")) else 1)


def find_inputs(paths: list[str], *, leave_out: Path | None = None) -> list[Input]:
    """Every trace under `paths`, heaviest first; what lies under `leave_out` (the batch's own output) is not one. Raises
    `UnreadableTraceError` for a path that names nothing."""
    found: dict[str, int] = {}
    for path in paths:
        named = dict(_remote(path) if "://" in path else _local(path, leave_out))
        if not named:
            raise UnreadableTraceError(
                f"{path}: no trace there; name .json, .json.gz or .json.zst files, folders or globs"
            )
        found |= named
    return sorted((Input(s, n) for s, n in found.items()), key=lambda i: (-i.weight, i.source))


def _local(path: str, leave_out: Path | None) -> list[tuple[str, int]]:
    place = Path(path)
    if place.is_file():
        return [(path, place.stat().st_size)]
    if place.is_dir():
        files = [f for f in place.rglob("*") if f.is_file() and f.name.endswith(SUFFIXES)]
    else:
        root = Path(re.split(r"[*?\[]", path, maxsplit=1)[0] or ".")
        root = root if root.is_dir() else root.parent
        pattern = str(place.relative_to(root)) if root != Path() else path
        files = [f for f in root.glob(pattern) if f.is_file()] if root.is_dir() and re.search(r"[*?\[]", path) else []
    skip = leave_out.resolve() if leave_out is not None else None
    kept = [f for f in files if skip is None or skip not in f.resolve().parents]
    return [(str(f), f.stat().st_size) for f in kept]


def _remote(url: str) -> list[tuple[str, int]]:
    import fsspec

    try:
        system, root = fsspec.core.url_to_fs(url)
        if re.search(r"[*?\[]", root):
            names = system.glob(root, detail=True)
        elif system.isdir(root):
            names = system.find(root, detail=True)
        else:
            return [(url, int(system.info(root).get("size") or 0))]
    except Exception as error:  # noqa: BLE001 - every protocol raises errors of its own
        raise UnreadableTraceError(f"{url}: cannot be listed ({type(error).__name__}: {error})") from None
    scheme = url.split("://")[0]
    return [
        (f"{scheme}://{system._strip_protocol(name)}", int(info.get("size") or 0))
        for name, info in names.items()
        if name.endswith(SUFFIXES) and info.get("type") != "directory"
    ]
