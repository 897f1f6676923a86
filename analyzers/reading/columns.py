"""Columns that grow as events arrive: one list a field, names and threads interned, times in integer nanoseconds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, cast

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl

from ..trace import FRAMES, KERNELS, LAUNCHES, MEMORY, OPS, SPANS, Signature
from .event import NULL, RAW, AnyEvent, Args, Event, ExactEvent
from .notes import Notes

Ints = npt.NDArray[np.int64]

SCHEMAS: dict[str, dict[str, Any]] = {
    "kernels": KERNELS,
    "launches": LAUNCHES,
    "ops": OPS,
    "spans": SPANS,
    "frames": FRAMES,
    "memory": MEMORY,
}
KINDS = ("kernel", "memcpy", "memset")
KERNEL_KINDS = {
    "kernel": "kernel",
    "concurrent_kernel": "kernel",
    "gpu_memcpy": "memcpy",
    "memcpy": "memcpy",
    "gpu_memset": "memset",
    "memset": "memset",
}
LAUNCH = frozenset(
    [
        "cuda_runtime",
        "cuda_driver",
        "runtime",
        "driver",
        "hip_runtime",
        "hip_driver",
        "xpu_runtime",
        "xpu_driver",
        "mtia_runtime",
        "privateuse1_runtime",
        "privateuse1_driver",
    ]
)
OP = frozenset(("cpu_op", "operator"))
SPAN = frozenset(("user_annotation", "gpu_user_annotation"))
FRAME = frozenset(("python_function", "python function"))
MEMORY_NAME = "[memory]"
LONGEST_NS = 10**15
"""A million seconds: no event lasts that long; CUPTI has been seen to say 236 years."""


class Growing:
    """One frame's columns while they grow: a list of int64 arrays each. Names are numbers; `NULL` is an absent value."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.parts: dict[str, list[Ints]] = {column: [] for column in schema}

    def put(self, column: str, values: list[int] | Ints) -> None:
        """Append values to a column; integers beyond int64 become absent."""
        try:
            part = np.asarray(values, np.int64)
        except OverflowError:
            part = np.array([v if -(2**63) <= v < 2**63 else NULL for v in values], np.int64)
        self.parts[column].append(part)

    def column(self, name: str) -> Ints:
        """A whole column; its parts are given up."""
        parts = self.parts.pop(name)
        return np.concatenate(parts) if parts else np.empty(0, np.int64)


class Columns:
    """Everything that is kept of the events, as it is read."""

    def __init__(self, notes: Notes, *, frames: bool) -> None:
        self.notes = notes
        self.frames_wanted = frames
        self.rows = {name: Growing(schema) for name, schema in SCHEMAS.items()}
        self.n_events = 0
        self.names: dict[str, int] = {}
        self.pids: dict[int | str, int] = {}
        self.tids: dict[tuple[int | str, int | str], int] = {}
        self.signatures: dict[tuple[bytes, ...], int] = {}
        self.kernel_args: dict[tuple[bytes, ...], int] = {(): 0}
        self.timed = False
        """Any complete event or memory instant was seen, kept or not."""

    def add(self, events: Sequence[AnyEvent]) -> None:
        """Sort a piece's events into their frames."""
        self.n_events += len(events)
        groups: dict[str, list[AnyEvent]] = defaultdict(list)
        for event in events:
            groups[event.cat].append(event)
        self.timed = self.timed or any(e.ph == "X" for e in events)
        for category, group in groups.items():
            self._route(category.lower(), group)

    def _route(self, category: str, group: list[AnyEvent]) -> None:
        if category in KERNEL_KINDS:
            self._kernels(KERNEL_KINDS[category], self._complete(group))
        elif category in LAUNCH:
            self._launches(self._complete(group))
        elif category in OP:
            self._ops(self._complete(group))
        elif category in SPAN:
            self._spans(self._complete(group), on_device=category == "gpu_user_annotation")
        elif category in FRAME:
            if self.frames_wanted:
                self._python(self._complete(group))
        else:
            self._memory([e for e in group if e.name == MEMORY_NAME and e.args is not None])

    def _complete(self, group: list[AnyEvent]) -> list[AnyEvent]:
        whole = [e for e in group if e.ph == "X"]
        if len(whole) < len(group):
            begun = sum(e.ph in ("B", "E") for e in group)
            if begun:
                self.notes.add("begin-end-events", "begin/end pairs are not used; export complete (X) events", begun)
        return whole

    def _times(self, events: list[AnyEvent], rows: Growing) -> None:
        if not events:
            return
        if isinstance(events[0], Event):
            plain = cast("list[Event]", events)
            rows.put("ts_ns", _whole_ns([e.ts for e in plain]))
            durs = _whole_ns([e.dur for e in plain])
        else:
            exact = cast("list[ExactEvent]", events)
            rows.put("ts_ns", [_exact_ns(e.ts) for e in exact])
            durs = np.array([_exact_ns(e.dur) for e in exact], np.int64)
        rows.put("dur_ns", self._durations(durs))
        names = self.names
        rows.put("name", [names.setdefault(e.name, len(names)) for e in events])

    def _durations(self, durs: Ints) -> Ints:
        wrong = (durs < 0) | (durs > LONGEST_NS)
        if wrong.any():
            counts = {
                ("missing-duration", "an event has no duration: read as 0"): int((durs == NULL).sum()),
                ("negative-duration", "an event has a negative duration: read as 0"): int(
                    ((durs < 0) & (durs != NULL)).sum()
                ),
                ("absurd-duration", "an event lasts longer than any can: read as 0"): int((durs > LONGEST_NS).sum()),
            }
            for (code, message), count in counts.items():
                if count:
                    self.notes.add(code, message, count)
            durs = np.where(wrong, 0, durs)
        return durs

    def _places(self, events: list[AnyEvent], rows: Growing) -> None:
        pids, tids = self.pids, self.tids
        rows.put("pid", [pids.setdefault(e.pid, len(pids)) for e in events])
        rows.put("tid", [tids.setdefault((e.pid, e.tid), len(tids)) for e in events])

    def _kernels(self, kind: str, events: list[AnyEvent]) -> None:
        rows = self.rows["kernels"]
        kept = [e for e in events if e.ts > 0 or (e.dur or 0) > 0]
        if len(kept) < len(events):
            message = "device events with no time (ts 0, dur 0) were dropped"
            self.notes.add("zero-time-kernels", message, len(events) - len(kept))
        self._times(kept, rows)
        args = [e.args or NOTHING for e in kept]
        rows.put("kind", [KINDS.index(kind)] * len(kept))
        rows.put("device", [a.device for a in args])
        rows.put("stream", [a.stream for a in args])
        rows.put("correlation", [a.correlation for a in args])
        rows.put("external_id", [a.external_id if a.external_id != NULL else a.external_id2 for a in args])
        rows.put("bytes", [_size(a.bytes) for a in args] if kind != "kernel" else [NULL] * len(args))
        rows.put("args", [self._kernel_args(a) for a in args])

    def _kernel_args(self, a: Args) -> int:
        if a is NOTHING:
            return 0
        key = (
            bytes(a.grid),
            bytes(a.block),
            bytes(a.registers),
            bytes(a.shared_memory),
            bytes(a.collective),
            bytes(a.in_elements),
            bytes(a.out_elements),
            bytes(a.group_size),
            bytes(a.comm_dtype),
        )
        return self.kernel_args.setdefault(key if any(key) else (), len(self.kernel_args))

    def _launches(self, events: list[AnyEvent]) -> None:
        rows = self.rows["launches"]
        self._times(events, rows)
        self._places(events, rows)
        args = [e.args or NOTHING for e in events]
        rows.put("correlation", [a.correlation for a in args])
        rows.put("external_id", [a.external_id if a.external_id != NULL else a.external_id2 for a in args])

    def _ops(self, events: list[AnyEvent]) -> None:
        rows = self.rows["ops"]
        self._times(events, rows)
        self._places(events, rows)
        args = [e.args or NOTHING for e in events]
        rows.put("external_id", [a.external_id if a.external_id != NULL else a.external_id2 for a in args])
        table = self.signatures
        # Raw fields alias the piece's text: copied, so that the text can go.
        keys = [
            (
                bytes(a.dims),
                bytes(a.types),
                bytes(a.strides),
                bytes(a.concrete),
                bytes(a.kernel_kwargs),
                bytes(a.kernel_backend),
                bytes(a.collective),
                bytes(a.in_elements),
                bytes(a.out_elements),
                bytes(a.group_size),
                bytes(a.comm_dtype),
            )
            for a in args
        ]
        rows.put("signature", [table.setdefault(key, len(table)) for key in keys])

    def _spans(self, events: list[AnyEvent], *, on_device: bool) -> None:
        rows = self.rows["spans"]
        self._times(events, rows)
        self._places(events, rows)
        rows.put("on_device", [int(on_device)] * len(events))

    def _python(self, events: list[AnyEvent]) -> None:
        rows = self.rows["frames"]
        self._times(events, rows)
        self._places(events, rows)
        args = [e.args or NOTHING for e in events]
        rows.put("python_id", [NULL if a.python_id is None else a.python_id for a in args])
        rows.put("parent_id", [NULL if a.parent_id is None else a.parent_id for a in args])

    def _memory(self, events: list[AnyEvent]) -> None:
        if not events:
            return
        self.timed = True
        rows = self.rows["memory"]
        args = [e.args for e in events if e.args is not None]
        rows.put("ts_ns", _whole_ns([float(e.ts) for e in events]))
        rows.put("bytes", [a.size for a in args])
        rows.put("total_allocated", [a.allocated for a in args])
        rows.put("total_reserved", [a.reserved for a in args])
        rows.put("device_type", [a.device_type for a in args])
        rows.put("device", [a.device_id for a in args])

    def frame(self, name: str) -> pl.DataFrame:
        """One frame, sorted and without repeats; its columns are given up."""
        growing, schema = self.rows.pop(name), SCHEMAS[name]
        raw = pl.DataFrame({column: growing.column(column) for column in schema})
        by = ["ts_ns"] if name == "memory" else ["ts_ns", "dur_ns"]
        raw = raw.sort(by, descending=[False, True][: len(by)], maintain_order=True)
        raw = _without_repeats(name, raw, self.notes)
        return raw.select(self._typed(column, dtype) for column, dtype in schema.items())

    def _typed(self, column: str, dtype: Any) -> pl.Expr:
        value = pl.col(column)
        if column == "name":
            names = pl.Series(list(self.names), dtype=pl.String)
            return value.map_batches(lambda s: names.gather(s), return_dtype=pl.String).alias(column)
        if column == "kind":
            kinds = pl.Series(KINDS)
            return value.map_batches(lambda s: kinds.gather(s), return_dtype=pl.String).alias(column)
        if dtype == pl.Boolean:
            return value.cast(pl.Boolean)
        # What does not fit its type is as good as absent: a device number of 2^40 names no device.
        return pl.when(value != NULL).then(value).cast(dtype, strict=False).alias(column)


_IDENTITY = {
    "kernels": (["ts_ns", "dur_ns", "name", "device", "stream", "correlation"], "correlation"),
    "launches": (["ts_ns", "dur_ns", "name", "tid", "correlation"], "correlation"),
    "ops": (["ts_ns", "dur_ns", "name", "tid", "external_id"], "external_id"),
}


def _without_repeats(frame: str, data: pl.DataFrame, notes: Notes) -> pl.DataFrame:
    """Drop events that stand twice: the same moment, place and id. The frame is sorted, so repeats share ts and dur with
    a neighbour: few rows need the full look."""
    if frame not in _IDENTITY or data.height < 2:
        return data
    columns, key = _IDENTITY[frame]
    ts, dur = data["ts_ns"].to_numpy(), data["dur_ns"].to_numpy()
    same = (ts[1:] == ts[:-1]) & (dur[1:] == dur[:-1]) & (dur[1:] > 0)
    if not same.any():
        return data
    suspects = np.zeros(len(ts), bool)
    suspects[1:] |= same
    suspects[:-1] |= same
    suspects &= data[key].to_numpy() != NULL
    rows = np.flatnonzero(suspects)
    first = data.select(columns)[rows].select(pl.struct(columns).is_first_distinct()).to_series().to_numpy()
    repeated = rows[~first]
    if not len(repeated):
        return data
    notes.add("duplicate-events", "events that stand twice in the trace are counted once", len(repeated))
    keep = np.ones(len(ts), bool)
    keep[repeated] = False
    return data.filter(pl.Series(keep))


def _whole_ns(microseconds: list[float]) -> Ints:
    """Microseconds as the nearest integer nanoseconds; `NULL` for what is no number."""
    ns = np.rint(np.array(microseconds, np.float64) * 1000)
    known = np.abs(ns) < 2.0**62
    return np.where(known, np.where(known, ns, 0).astype(np.int64), NULL)


def _size(value: int | str) -> int:
    return value if isinstance(value, int) else int(value) if value.isdecimal() else NULL


def _exact_ns(dur: Decimal | None) -> int:
    return NULL if dur is None else int((dur * 1000).to_integral_value())


NOTHING = Args()
OP_FIELDS = (
    "dims",
    "types",
    "strides",
    "concrete",
    "kernel_kwargs",
    "kernel_backend",
    "collective",
    "in_elements",
    "out_elements",
    "group_size",
    "comm_dtype",
)
KERNEL_FIELDS = [
    "grid",
    "block",
    "registers",
    "shared_memory",
    "collective",
    "in_elements",
    "out_elements",
    "group_size",
    "comm_dtype",
]
_KEYS = {
    "registers": "registers per thread",
    "shared_memory": "shared memory",
    "collective": "Collective name",
    "in_elements": "In msg nelems",
    "out_elements": "Out msg nelems",
    "group_size": "Group size",
    "comm_dtype": "dtype",
}


class Signatures(Sequence[Signature]):
    """Distinct op signatures, decoded on first use."""

    def __init__(self, keys: Sequence[tuple[bytes, ...]]) -> None:
        self._keys = keys
        self._decoded: dict[int, Signature] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        index = int(index)
        if index < 0 or index >= len(self._keys):
            raise IndexError(index)
        if index not in self._decoded:
            self._decoded[index] = _signature(self._keys[index])
        return self._decoded[index]


def _signature(key: tuple[bytes, ...]) -> Signature:
    dims, types, strides, concrete, *extra = (_value(raw) for raw in key)
    named = {_KEYS.get(n, n): v for n, v in zip(OP_FIELDS[4:], extra, strict=True) if v is not None}
    return Signature(
        tuple(dims) if isinstance(dims, list) else (),
        tuple(map(str, types)) if isinstance(types, list) else (),
        tuple(strides) if isinstance(strides, list) else (),
        tuple(map(str, concrete)) if isinstance(concrete, list) else (),
        named,
    )


def kernel_args_of(keys: Sequence[tuple[bytes, ...]]) -> list[dict[str, Any]]:
    """The distinct static arguments of kernels, as Kineto names them."""
    return [
        {_KEYS.get(f, f): v for f, raw in zip(KERNEL_FIELDS, key, strict=False) if (v := _value(raw)) is not None}
        for key in keys
    ]


def _value(raw: bytes) -> Any:
    if not raw or raw == RAW:
        return None
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return None
