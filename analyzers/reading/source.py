"""Where a trace's bytes come from: a path, a URL, bytes, an open file or a profiler, inflated as they are read.

The kind is told by content, never by name. Damage ends the stream early and is noted; what came before it is kept.
"""

from __future__ import annotations

import codecs
import io
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, cast

from ..errors import EmptyTraceError, UnreadableTraceError
from .notes import Notes

_inflate: Any
try:
    from isal import isal_zlib as _inflate
except ImportError:  # no wheel for this platform
    _inflate = zlib

COMPRESSED_BLOCK = 1 << 16
PLAIN_BLOCK = 1 << 18
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
HTML = (b"<!doctype", b"<html", b"<?xml")


def open_source(source: Any) -> tuple[IO[bytes], str]:
    """An open binary file and the name to show for it. Raises `UnreadableTraceError` naming the remedy."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return io.BytesIO(bytes(source)), "<bytes>"
    if hasattr(source, "export_chrome_trace"):
        return _exported(source), "<profiler>"
    if hasattr(source, "read"):
        return cast("IO[bytes]", source), str(getattr(source, "name", "<file>"))
    text = os.fspath(source)
    if "://" in text:
        return _open_url(text), text
    path = Path(text)
    if path.is_dir():
        raise UnreadableTraceError(f"{text}: is a folder; name a trace in it, or use `boundby batch {text}`")
    try:
        return path.open("rb"), text
    except FileNotFoundError:
        raise UnreadableTraceError(f"{text}: no such file; check the path") from None
    except OSError as error:
        raise UnreadableTraceError(
            f"{text}: cannot be read ({error.strerror or error}); check its permissions"
        ) from None


def _exported(profiler: Any) -> IO[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        return io.BytesIO(path.read_bytes())


def _open_url(url: str) -> IO[bytes]:
    import fsspec

    try:
        return cast("IO[bytes]", fsspec.open(url, "rb").open())
    except Exception as error:  # noqa: BLE001 - every protocol raises errors of its own
        raise UnreadableTraceError(f"{url}: cannot be opened ({type(error).__name__}: {error})") from None


def blocks(file: IO[bytes], name: str, notes: Notes, max_bytes: int) -> Iterator[bytes]:
    """The trace's text in blocks of UTF-8, without a byte-order mark."""
    try:
        head = file.read(COMPRESSED_BLOCK)
    except OSError as error:
        raise UnreadableTraceError(f"{name}: cannot be read ({error.strerror or error})") from None
    if not head:
        raise EmptyTraceError(f"{name}: is empty; record the trace again")
    text = _inflated(head, file, notes)
    total = 0
    first = True
    decode: Callable[[bytes], bytes] | None = None
    for raw in text:
        total += len(raw)
        if total > max_bytes:
            raise UnreadableTraceError(
                f"{name}: holds more than {max_bytes / 1e9:g} GB of text; raise the limit (--max-size) if you trust it"
            )
        block = raw
        if first:
            first = False
            block, decode = _unmarked(block, name)
        elif decode is not None:
            block = decode(block)
        yield block


def _unmarked(block: bytes, name: str) -> tuple[bytes, Callable[[bytes], bytes] | None]:
    if block.startswith(codecs.BOM_UTF8):
        return block[3:], None
    encoding = "utf-16" if block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else None
    if encoding is None and block[:1] in (b"{", b"[") and block[1:2] == b"\0":
        encoding = "utf-16-le"
    if encoding is not None:
        decoder = codecs.getincrementaldecoder(encoding)(errors="replace")

        def decode(data: bytes) -> bytes:
            return decoder.decode(data).encode("utf-8", "replace")

        return decode(block), decode
    if block.lstrip()[:9].lower().startswith(HTML):
        raise UnreadableTraceError(f"{name}: is an HTML or XML page, not a trace; download the file itself")
    return block, None


def _inflated(head: bytes, file: IO[bytes], notes: Notes) -> Iterator[bytes]:
    if head.startswith(GZIP):
        return _gunzip(head, file, notes)
    if head.startswith(ZSTD):
        return _unzstd(head, file, notes)
    return _plain(head, file)


def _plain(head: bytes, file: IO[bytes]) -> Iterator[bytes]:
    yield head
    while block := file.read(PLAIN_BLOCK):
        yield block


def _gunzip(head: bytes, file: IO[bytes], notes: Notes) -> Iterator[bytes]:
    inflater = _inflate.decompressobj(31)
    data = head
    whole = False
    try:
        while data:
            text = inflater.decompress(data, PLAIN_BLOCK)
            if text:
                yield text
            whole = inflater.eof
            if whole:
                data = inflater.unused_data.lstrip(b"\0") or file.read(COMPRESSED_BLOCK)
                if data and not data.startswith(GZIP):
                    notes.add("trailing-bytes", "bytes after the compressed trace were ignored")
                    return
                inflater = _inflate.decompressobj(31)
                continue
            data = inflater.unconsumed_tail or file.read(COMPRESSED_BLOCK)
        if not whole:
            notes.add("truncated", "the compressed file ends early: everything before its end is used")
    except (zlib.error, getattr(_inflate, "error", zlib.error)) as error:
        notes.add("damaged-compression", f"the compressed data is damaged ({error}): what precedes the damage is used")


def _unzstd(head: bytes, file: IO[bytes], notes: Notes) -> Iterator[bytes]:
    import zstandard

    class _Joined(io.RawIOBase):
        def __init__(self) -> None:
            self.rest = head

        def readable(self) -> bool:
            return True

        def read(self, size: int = -1) -> bytes:
            if self.rest:
                data, self.rest = self.rest, b""
                return data
            return file.read(size)

    reader = zstandard.ZstdDecompressor().stream_reader(_Joined(), read_across_frames=True)  # type: ignore[arg-type]
    try:
        while block := reader.read(PLAIN_BLOCK):
            yield block
    except zstandard.ZstdError as error:
        notes.add("damaged-compression", f"the compressed data is damaged ({error}): what precedes the damage is used")
