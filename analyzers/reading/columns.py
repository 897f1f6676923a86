"""Columns that grow as events arrive: one list a field, names and threads interned, times in integer nanoseconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import polars as pl

from ..trace import FRAMES, KERNELS, LAUNCHES, MEMORY, OPS, SPANS, Signature
from .event import RAW, AnyEvent, Args, Event
from .notes import Notes

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


class Columns:
    """Everything that is kept of the events, as it is read."""

    def __init__(self, notes: Notes, *, frames: bool) -> None:
        self.notes = notes
        self.frames_wanted = frames
        self.rows: dict[str, dict[str, list[Any]]] = {
            frame: {column: [] for column in schema}
            for frame, schema in (
                ("kernels", KERNELS),
                ("launches", LAUNCHES),
                ("ops", OPS),
                ("spans", SPANS),
                ("frames", FRAMES),
                ("memory", MEMORY),
            )
        }
        self.n_events = 0
        self.pids: dict[int | str, int] = {}
        self.tids: dict[tuple[int | str, int | str], int] = {}
        self.signatures: dict[tuple[bytes, ...], int] = {}
        self.kernel_args: dict[tuple[bytes, ...], int] = {(): 0}
        self.timed = False
        """Any complete event was seen, kept or not."""

    def add(self, events: Sequence[AnyEvent]) -> None:
        """Sort a piece's events into their frames."""
        self.n_events += len(events)
        groups: dict[str, list[AnyEvent]] = {}
        for event in events:
            category = event.cat
            if category in groups:
                groups[category].append(event)
            else:
                groups[category] = [event]
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

    def _times(self, events: list[AnyEvent], rows: dict[str, list[Any]]) -> None:
        if events and isinstance(events[0], Event):
            rows["ts_ns"] += [round(e.ts * 1000) for e in events]
            durs = [None if e.dur is None else round(e.dur * 1000) for e in events]
        else:
            rows["ts_ns"] += [int((e.ts * 1000).to_integral_value()) for e in events]  # type: ignore[union-attr]
            durs = [None if e.dur is None else int((e.dur * 1000).to_integral_value()) for e in events]  # type: ignore[union-attr]
        if None in durs:
            self.notes.add("missing-duration", "an event has no duration: read as 0", durs.count(None))
        rows["dur_ns"] += [self._duration(d) if d is None or not 0 <= d <= LONGEST_NS else d for d in durs]
        rows["name"] += [e.name for e in events]

    def _duration(self, dur: int | None) -> int:
        if dur is not None:
            if dur < 0:
                self.notes.add("negative-duration", "an event has a negative duration: read as 0")
            else:
                self.notes.add("absurd-duration", "an event lasts longer than any can: read as 0")
        return 0

    def _places(self, events: list[AnyEvent], rows: dict[str, list[Any]]) -> None:
        pids, tids = self.pids, self.tids
        rows["pid"] += [pids.setdefault(e.pid, len(pids)) for e in events]
        rows["tid"] += [tids.setdefault((e.pid, e.tid), len(tids)) for e in events]

    def _kernels(self, kind: str, events: list[AnyEvent]) -> None:
        rows = self.rows["kernels"]
        kept = [e for e in events if e.ts > 0 or (e.dur or 0) > 0]
        if len(kept) < len(events):
            message = "device events with no time (ts 0, dur 0) were dropped"
            self.notes.add("zero-time-kernels", message, len(events) - len(kept))
        self._times(kept, rows)
        args = [e.args or _NOTHING for e in kept]
        rows["kind"] += [kind] * len(kept)
        rows["device"] += [a.device for a in args]
        rows["stream"] += [a.stream for a in args]
        rows["correlation"] += [a.correlation for a in args]
        rows["external_id"] += [a.external_id if a.external_id is not None else a.external_id2 for a in args]
        rows["bytes"] += [a.bytes for a in args] if kind != "kernel" else [None] * len(args)
        rows["args"] += [self._kernel_args(a) for a in args]

    def _kernel_args(self, a: Args) -> int:
        if a is _NOTHING:
            return 0
        key = tuple(bytes(getattr(a, f)) for f in KERNEL_FIELDS)
        return self.kernel_args.setdefault(key if any(key) else (), len(self.kernel_args))

    def _launches(self, events: list[AnyEvent]) -> None:
        rows = self.rows["launches"]
        self._times(events, rows)
        self._places(events, rows)
        args = [e.args or _NOTHING for e in events]
        rows["correlation"] += [a.correlation for a in args]
        rows["external_id"] += [a.external_id if a.external_id is not None else a.external_id2 for a in args]

    def _ops(self, events: list[AnyEvent]) -> None:
        rows = self.rows["ops"]
        self._times(events, rows)
        self._places(events, rows)
        args = [e.args or _NOTHING for e in events]
        rows["external_id"] += [a.external_id if a.external_id is not None else a.external_id2 for a in args]
        table = self.signatures
        # Raw fields alias the piece's buffer: copy them before it is used again.
        keys = [tuple(bytes(getattr(a, f)) for f in OP_FIELDS) for a in args]
        rows["signature"] += [table.setdefault(key, len(table)) for key in keys]

    def _spans(self, events: list[AnyEvent], *, on_device: bool) -> None:
        rows = self.rows["spans"]
        self._times(events, rows)
        self._places(events, rows)
        rows["on_device"] += [on_device] * len(events)

    def _python(self, events: list[AnyEvent]) -> None:
        rows = self.rows["frames"]
        self._times(events, rows)
        self._places(events, rows)
        args = [e.args or _NOTHING for e in events]
        rows["python_id"] += [a.python_id for a in args]
        rows["parent_id"] += [a.parent_id for a in args]

    def _memory(self, events: list[AnyEvent]) -> None:
        rows = self.rows["memory"]
        args = [e.args for e in events if e.args is not None]
        rows["ts_ns"] += [round(float(e.ts) * 1000) for e in events]
        rows["bytes"] += [a.size for a in args]
        rows["total_allocated"] += [a.allocated for a in args]
        rows["total_reserved"] += [a.reserved for a in args]
        rows["device_type"] += [a.device_type for a in args]
        rows["device"] += [a.device_id for a in args]

    def frame(self, name: str, schema: dict[str, Any]) -> pl.DataFrame:
        """One frame, sorted; its lists are given up."""
        data = self.rows.pop(name)
        frame = pl.DataFrame(data, schema=schema, strict=False)
        by = ["ts_ns"] if name == "memory" else ["ts_ns", "dur_ns"]
        return frame.sort(by, descending=[False, True][: len(by)], maintain_order=True)


_NOTHING = Args()
OP_FIELDS = ("dims", "types", "strides", "concrete", "kernel_kwargs", "kernel_backend", "collective", "in_elements")
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
_KERNEL_KEYS = {
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
    named = {n: v for n, v in zip(OP_FIELDS[4:], extra, strict=True) if v is not None}
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
        {
            _KERNEL_KEYS.get(f, f): v
            for f, raw in zip(KERNEL_FIELDS, key, strict=False)
            if (v := _value(raw)) is not None
        }
        for key in keys
    ]


def _value(raw: bytes) -> Any:
    if not raw or raw == RAW:
        return None
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return None
