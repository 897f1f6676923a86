"""Cuts the stream of text at event boundaries: the head before the events, pieces of whole events, the tail after them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from ..errors import UnreadableTraceError
from .event import AnyEvent
from .notes import Notes
from .salvage import array_end, one_by_one

PIECE = 1 << 19
"""Bytes decoded at once: about a core's second-level cache."""
HEAD_LIMIT = 1 << 28
EVENT_LIMIT = 1 << 26
"""One event of more than 64 MiB is no event."""
_EVENTS = re.compile(rb'"traceEvents"\s*:\s*\[')
TRIES = 8


@dataclass
class Split:
    """The outer parts, filled in as the events are read."""

    head: bytes = b""
    tail: bytes = b""
    pieces: Iterator[list[AnyEvent]] = field(default_factory=lambda: iter(()))


def split(text: Iterator[bytes], name: str, decoder_for: object, notes: Notes, piece: int = PIECE) -> Split:
    """Find the events of a trace and yield them in pieces. Raises `UnreadableTraceError` when there are none to find."""
    head = bytearray()
    found = None
    start = 0
    for block in text:
        head += block
        stripped = head.lstrip()
        if stripped[:1] == b"[":
            found_at = head.index(b"[") + 1
            result = Split(b"")
            result.pieces = _pieces(result, bytearray(head[found_at:]), text, decoder_for, notes, piece)
            return result
        if stripped and stripped[:1] != b"{":
            break
        found = _EVENTS.search(head, max(start - 32, 0))
        if found or len(head) > HEAD_LIMIT:
            break
        start = len(head)
    if not found:
        kind = "JSON, but has no traceEvents" if bytes(head).lstrip()[:1] == b"{" else "no JSON"
        raise UnreadableTraceError(f"{name}: is {kind}; give a trace that torch.profiler exported")
    result = Split(bytes(head[: found.start()]))
    result.pieces = _pieces(result, bytearray(head[found.end() :]), text, decoder_for, notes, piece)
    return result


def _pieces(
    result: Split, buffer: bytearray, text: Iterator[bytes], decoder_for: object, notes: Notes, piece: int
) -> Iterator[list[AnyEvent]]:
    decoder = decoder_for(bytes(buffer[:4096]))  # type: ignore[operator]
    ended = False
    while not ended:
        while len(buffer) < piece:
            block = next(text, None)
            if block is None:
                ended = True
                break
            buffer += block
        if ended:
            break
        cut, events = _cut(buffer, decoder)
        if events is None:
            end = array_end(buffer)
            if end is not None:
                break
            if cut < 0:
                if len(buffer) > EVENT_LIMIT:
                    notes.add("giant-event", "an event of more than 64 MiB was dropped")
                    buffer.clear()
                piece_now = len(buffer) * 2
                block = next(text, None)
                while block is not None and len(buffer) < piece_now:
                    buffer += block
                    block = next(text, None)
                if block is not None:
                    buffer += block
                elif len(buffer) < piece_now:
                    break
                continue
            yield from one_by_one(bytes(memoryview(buffer)[:cut]), decoder, notes)
        else:
            yield events
        del buffer[: cut + 1]
    for block in text:
        buffer += block
    yield from _last(result, bytes(buffer), decoder, notes)


def _cut(buffer: bytearray, decoder: msgspec.json.Decoder[list[AnyEvent]]) -> tuple[int, list[AnyEvent] | None]:
    """The position of the last boundary whose left side decodes, and what it decodes to; else the last boundary and None."""
    end = len(buffer)
    first = -1
    for _ in range(TRIES):
        comma = _boundary_before(buffer, end)
        if comma < 0:
            break
        if first < 0:
            first = comma
        try:
            return comma, decoder.decode(b"[" + bytes(memoryview(buffer)[:comma]) + b"]")
        except msgspec.ValidationError:
            return comma, None  # well-formed, and some event has a field of another type
        except (msgspec.DecodeError, UnicodeDecodeError):
            end = comma
    return first, None


def _boundary_before(buffer: bytearray, end: int) -> int:
    """The comma of the last `} , {` that ends before `end`, -1 for none."""
    while (brace := buffer.rfind(b"{", 0, end)) > 0:
        comma = brace - 1
        while comma > 0 and buffer[comma] in b" \t\r\n":
            comma -= 1
        if buffer[comma] == 0x2C:
            before = comma - 1
            while before > 0 and buffer[before] in b" \t\r\n":
                before -= 1
            if buffer[before] == 0x7D:
                return comma
        end = brace
    return -1


def _last(
    result: Split, rest: bytes, decoder: msgspec.json.Decoder[list[AnyEvent]], notes: Notes
) -> Iterator[list[AnyEvent]]:
    end = array_end(rest)
    body = rest if end is None else rest[:end]
    if end is None:
        notes.add("truncated", "the trace ends inside its events: all complete ones are used")
    else:
        result.tail = rest[end + 1 :]
    trimmed = body.strip().rstrip(b",").rstrip()
    if not trimmed:
        return
    try:
        yield decoder.decode(b"[" + trimmed + b"]")
    except (msgspec.MsgspecError, UnicodeDecodeError):
        yield from one_by_one(body, decoder, notes)
