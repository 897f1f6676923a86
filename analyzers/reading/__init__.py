"""From bytes to columns: sources, event boundaries, typed decoding, salvage. `read_trace` is the way in."""

from __future__ import annotations

import gc
import re
from typing import Any

import msgspec
import polars as pl

from ..errors import EmptyTraceError, UnreadableTraceError
from ..trace import Header, Trace
from .columns import SCHEMAS, Columns, Signatures, kernel_args_of
from .event import FLOAT_EXACT_BELOW_US, Event, ExactEvent
from .notes import Notes
from .salvage import outer
from .source import blocks, open_source
from .split import PIECE, split

MAX_BYTES = 64 * 10**9
MAX_EVENTS = 200_000_000
_TS = re.compile(rb'"ts"\s*:\s*"?(\d+)')
_FAST = msgspec.json.Decoder(list[Event])
_EXACT = msgspec.json.Decoder(list[ExactEvent])


def read_trace(
    source: Any, *, frames: bool = False, max_bytes: int = MAX_BYTES, max_events: int = MAX_EVENTS, piece: int = PIECE
) -> Trace:
    """Read one profiler trace into columns.

    `source` is a path, a URL that fsspec opens, bytes, an open binary file or a finished `torch.profiler` object;
    `frames` keeps Python functions. Damage is mended where possible and counted in the trace's warnings. Raises
    `UnreadableTraceError` for what is no trace and `EmptyTraceError` for one without events."""
    file, name = open_source(source)
    notes = Notes()
    columns = Columns(notes, frames=frames)
    collecting = gc.isenabled()
    gc.disable()  # nothing that is read makes cycles, and a collection walks all of it again and again
    try:
        parts = split(blocks(file, name, notes, max_bytes), name, _decoder_for, notes, piece)
        for events in parts.pieces:
            columns.add(events)
            if columns.n_events > max_events:
                raise UnreadableTraceError(
                    f"{name}: holds more than {max_events:,} events; raise the limit (--max-events)"
                )
    finally:
        file.close()
        if collecting:
            gc.enable()
    if not columns.timed:
        raise EmptyTraceError(f"{name}: holds no events; record it again, with work inside the profiler's block")
    return _trace(name, columns, outer(parts.head, parts.tail), notes)


def _decoder_for(start: bytes) -> msgspec.json.Decoder[Any]:
    stamps = [int(found) for found in _TS.findall(start)]
    return _EXACT if stamps and max(stamps) > FLOAT_EXACT_BELOW_US else _FAST


def _trace(name: str, columns: Columns, keys: dict[str, Any], notes: Notes) -> Trace:
    frames = {name: columns.frame(name) for name in SCHEMAS}
    present = [f["ts_ns"].min() for n, f in frames.items() if f.height and n != "memory"]
    origin = int(min(present)) if present else 0  # type: ignore[type-var, arg-type]
    frames = {frame: data.with_columns(pl.col("ts_ns") - origin) for frame, data in frames.items()}
    return Trace(
        path=name,
        **frames,
        header=_header(keys),
        signatures=Signatures(list(columns.signatures)),
        kernel_args=kernel_args_of(list(columns.kernel_args)),
        process_names=tuple(map(str, columns.pids)),
        thread_names=tuple(str(tid) for _, tid in columns.tids),
        n_events=columns.n_events,
        origin_ns=origin,
        warnings=notes.warnings(),
    )


def _header(keys: dict[str, Any]) -> Header:
    devices = keys.pop("deviceProperties", None)
    distributed = keys.pop("distributedInfo", None)
    return Header(
        device_properties=tuple(d for d in devices if isinstance(d, dict)) if isinstance(devices, list) else (),
        distributed=distributed if isinstance(distributed, dict) else {},
        metadata={k: v for k, v in keys.items() if k != "traceEvents"},
    )


__all__ = ["read_trace"]
