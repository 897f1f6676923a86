"""The tolerant path: a piece that the typed decoder refused, event by event, each mended if it can be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import msgspec

from .event import AnyEvent, loose
from .notes import Notes

_JUMP = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.S)
_STARTS = re.compile(rb'\{\s*"(?:ph|name|cat|ts|pid|tid|id|args|dur|s|bp)"\s*:')
MOST_JOINS = 40
_RAW = msgspec.json.Decoder(list[msgspec.Raw])
_BAD_ESCAPE = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
_NAME = re.compile(r'("name"\s*:\s*")(.*?)("\s*(?:,\s*"(?:pid|tid|ts|dur|args|cat|ph|id|bp|s)"\s*:|\}\s*$))', re.S)


def array_end(data: bytes | bytearray) -> int | None:
    """The position of the `]` that closes the events, when `data` begins inside them; None when it is not in `data`."""
    at = len(data)
    while (at := data.rfind(b"]", 0, at)) >= 0:
        after = data[at + 1 : at + 256].lstrip()[:1]
        before = data[max(at - 256, 0) : at].rstrip()[-1:]
        if after in (b",", b"}", b"") and before in (b"}", b",", b"", b"[") and _balanced(data, at):
            return at
    return None


def _balanced(data: bytes | bytearray, end: int) -> bool:
    depth = 0
    for found in _JUMP.finditer(data, 0, end):
        token = found.group()
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
            if depth < 0:
                return False
    return depth == 0


def one_by_one(data: bytes, decoder: msgspec.json.Decoder[list[AnyEvent]], notes: Notes) -> Iterator[list[AnyEvent]]:
    """A piece whose events do not decode together: those that do alone, then the others field by field. Text that is no
    JSON is mended event by event (`salvage`)."""
    try:
        raw = _RAW.decode(b"[" + data.strip().strip(b",") + b"]")
    except (msgspec.DecodeError, UnicodeDecodeError):
        yield salvage(data, notes)
        return
    typed: list[AnyEvent] = []
    others: list[AnyEvent] = []
    for event in raw:
        try:
            typed += decoder.decode(b"[" + event + b"]")
        except (msgspec.MsgspecError, UnicodeDecodeError):  # noqa: PERF203 - a few events of a piece at most
            others += salvage(bytes(event), notes)
    yield typed
    yield others


def salvage(data: bytes, notes: Notes) -> list[AnyEvent]:
    """Every event of `data` that can be read. Counts what was mended and what was lost."""
    text = data.decode("utf-8", "surrogatepass") if _valid(data) else _replaced(data, notes)
    pieces = [p for p in re.split(r"(?<=\})\s*,\s*(?=\{)", text.strip().strip(",").strip()) if p.strip()]
    events: list[AnyEvent] = []
    index = 0
    while index < len(pieces):
        raw, used = _event(pieces, index, notes)
        index += used
        event = loose(raw)
        if event is None:
            notes.add("lost-event", "an event is damaged beyond repair and was dropped")
        else:
            events.append(event)
    return events


def _event(pieces: list[str], index: int, notes: Notes) -> tuple[object, int]:
    """The event that starts at a piece, and how many pieces it spans (a boundary may lie in a string)."""
    joined = pieces[index]
    for used in range(1, MOST_JOINS):
        try:
            return json.loads(joined, strict=True, parse_constant=_constant(notes)), used
        except (ValueError, RecursionError):
            pass
        mended = _mended(joined)
        try:
            raw = json.loads(mended, strict=False, parse_constant=_constant(notes))
        except (ValueError, RecursionError):
            pass
        else:
            notes.add("repaired-text", "invalid JSON text (escapes, quotes or control characters) was repaired")
            return raw, used
        following = index + used
        if following >= len(pieces) or _STARTS.match(pieces[following].encode("utf-8", "replace")):
            return None, used
        joined += "," + pieces[following]
    return None, 1


def _constant(notes: Notes) -> Callable[[str], None]:
    def found(name: str) -> None:
        notes.add("not-a-number", f"{name} stands where a number belongs: read as unknown")

    return found


def _mended(text: str) -> str:
    def fix(found: re.Match[str]) -> str:
        inner = re.sub(r'(?<!\\)"', r'\\"', found[2])
        return found[1] + inner + found[3]

    text = _BAD_ESCAPE.sub(r"\\\\", text)
    text = _NAME.sub(fix, text)
    return re.sub(r"(?<=[:\s,\[])(-?)inf(?:inity)?\b", r"\1Infinity", text, flags=re.I)


def _valid(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _replaced(data: bytes, notes: Notes) -> str:
    text = data.decode("utf-8", "replace")
    notes.add("invalid-utf8", "bytes that are no UTF-8 were replaced", max(text.count("\ufffd"), 1))
    return text


def outer(head: bytes, tail: bytes) -> dict[str, object]:
    """The top-level keys around the events, each read alone, so that damage to one loses no other."""
    found: dict[str, object] = {}
    for part in (head.strip().removeprefix(b"{"), tail.strip().removesuffix(b"}")):
        body = part.strip().strip(b",")
        if not body:
            continue
        try:
            found |= json.loads(b"{" + body + b"}", strict=False)
        except (ValueError, RecursionError):
            found |= _keys(body.decode("utf-8", "replace"))
    return found


def _keys(text: str) -> dict[str, object]:
    decoder = json.JSONDecoder(strict=False)
    found: dict[str, object] = {}
    for match in re.finditer(r'"([^"\\]{1,80})"\s*:\s*', text):
        try:
            found.setdefault(match[1], decoder.raw_decode(text, match.end())[0])
        except (ValueError, RecursionError):  # noqa: PERF203 - damage is rare, and each key stands alone
            continue
    return found
