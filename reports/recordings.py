"""What a comparison takes: a trace, an analysis in its JSON form, a saved baseline, or a folder of them."""

from __future__ import annotations

import re
from pathlib import Path

from boundby.analyzers.comparison.baseline import BASELINE_SCHEMA, Baseline
from boundby.analyzers.errors import UnreadableTraceError

_SUFFIXES = re.compile(r"(\.(json|gz|zst))+$")
HEAD = 4096
"""An analysis and a baseline name themselves within this many bytes."""


def load_recording(path: str, *, device: str | None = None, model: str | None = None) -> Baseline:
    """The figures of one recording. The kind of file is told by its content. Raises `BoundbyError`s."""
    file = Path(path)
    if file.is_file() and is_result(file):
        return Baseline.from_json(file.read_bytes(), path=path)
    from boundby.analyzers.analyze import analyze

    return Baseline.of(analyze(path, device=device, model=model))


def is_result(file: Path) -> bool:
    """The file holds a baseline or an analysis, not a trace."""
    try:
        with file.open("rb") as handle:
            head = handle.read(HEAD)
    except OSError as error:
        raise UnreadableTraceError(f"{file}: cannot be read ({error.strerror}); give a file you may read") from error
    return BASELINE_SCHEMA.encode() in head or (b'"schema_version"' in head and b'"tool"' in head)


def recordings_in(folder: Path) -> dict[str, Path]:
    """The recordings of a folder by file name without its format, so that a trace and an analysis of it pair up."""
    found = {}
    for file in sorted(folder.iterdir()):
        if file.is_file() and any(s in file.suffixes for s in (".json", ".gz", ".zst")):
            found[_SUFFIXES.sub("", file.name)] = file
    if not found:
        raise UnreadableTraceError(f"{folder}: holds no .json, .gz or .zst file; name a folder of recordings")
    return found
