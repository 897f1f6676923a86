"""What a batch keeps: one JSON a trace with its analysis or its error, so that a later run skips what is up to date."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

import msgspec

from boundby.analyzers.analysis import Analysis
from boundby.tracer.version import VERSION

from .. import output


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One trace's result. `error` is None when the analysis is there."""

    source: str
    content: str
    """A hash of the trace's bytes; of its name and size where it is remote."""
    version: str
    options: str
    """The options that decide the result: device and model."""
    page: str
    analysis: Analysis | None = None
    error: str | None = None
    job: str = ""
    rank: int | None = None


def key_of(source: str) -> str:
    """A file name for a trace's results: readable, and distinct by its whole path."""
    stem = "".join(c if c.isalnum() or c in "-._" else "_" for c in source.rsplit("/", 1)[-1])
    return f"{stem[:80]}-{blake2b(source.encode('utf-8', 'replace'), digest_size=6).hexdigest()}"


def content_of(source: str, size: int) -> str:
    """A hash of what is to be analysed."""
    digest = blake2b(digest_size=16)
    if "://" in source:
        digest.update(f"{source} {size}".encode())
    else:
        with Path(source).open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def load(folder: Path, key: str) -> Entry | None:
    """An earlier result, or None when there is none that can be read."""
    try:
        return msgspec.json.decode((folder / f"{key}.json").read_bytes(), type=Entry)
    except (OSError, msgspec.DecodeError):
        return None


def save(folder: Path, key: str, entry: Entry) -> None:
    """Keep a result, in one step."""
    output.write(folder / f"{key}.json", msgspec.json.encode(entry))


def load_all(folder: Path) -> list[Entry]:
    """Every result of a batch, by source."""
    found = [entry for file in sorted(folder.glob("*.json")) if (entry := load(folder, file.stem)) is not None]
    return sorted(found, key=lambda e: e.source)


def is_current(entry: Entry | None, content: str, options: str, folder: Path) -> bool:
    """The trace, this program and the options are those of the kept result, and its page is there."""
    return (
        entry is not None
        and (entry.content, entry.version, entry.options) == (content, VERSION, options)
        and (entry.analysis is None or (folder / entry.page).exists())
    )
