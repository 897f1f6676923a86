"""`Trace`: what was read from one profiler trace, as columns.

Times are int64 nanoseconds since `Trace.origin_ns` (so the earliest kept event is at 0). Every frame is sorted by
`ts_ns` (then by `-dur_ns`, so that a parent precedes its children), and its row number is the event's id within
that frame. Columns, `?` marking those that may be null:

kernels   ts_ns dur_ns name kind device? stream? correlation? external_id? bytes? args
          kind is "kernel", "memcpy" or "memset"; device int32, stream/correlation/external_id int64; bytes int64 (copies
          and sets only); args uint32 indexes `kernel_args`
launches  ts_ns dur_ns name pid tid correlation? external_id?       runtime and driver calls, CUDA, HIP and XPU
ops       ts_ns dur_ns name pid tid external_id? signature          cpu_op; signature uint32 indexes `signatures`
spans     ts_ns dur_ns name pid tid on_device                       user annotations; on_device marks a GPU-track repeat
frames    ts_ns dur_ns name pid tid python_id? parent_id?           python functions, only when asked for
memory    ts_ns bytes total_allocated? total_reserved? device_type? device?      allocator instants

pid and tid are uint32 ids, one per distinct process or thread (`Trace.process_names[pid]`, `Trace.thread_names[tid]`;
threads of different processes have different tid).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import polars as pl

KERNELS = {
    "ts_ns": pl.Int64,
    "dur_ns": pl.Int64,
    "name": pl.String,
    "kind": pl.String,
    "device": pl.Int32,
    "stream": pl.Int64,
    "correlation": pl.Int64,
    "external_id": pl.Int64,
    "bytes": pl.Int64,
    "args": pl.UInt32,
}
LAUNCHES = {
    "ts_ns": pl.Int64,
    "dur_ns": pl.Int64,
    "name": pl.String,
    "pid": pl.UInt32,
    "tid": pl.UInt32,
    "correlation": pl.Int64,
    "external_id": pl.Int64,
}
OPS = {
    "ts_ns": pl.Int64,
    "dur_ns": pl.Int64,
    "name": pl.String,
    "pid": pl.UInt32,
    "tid": pl.UInt32,
    "external_id": pl.Int64,
    "signature": pl.UInt32,
}
SPANS = {
    "ts_ns": pl.Int64,
    "dur_ns": pl.Int64,
    "name": pl.String,
    "pid": pl.UInt32,
    "tid": pl.UInt32,
    "on_device": pl.Boolean,
}
FRAMES = {
    "ts_ns": pl.Int64,
    "dur_ns": pl.Int64,
    "name": pl.String,
    "pid": pl.UInt32,
    "tid": pl.UInt32,
    "python_id": pl.Int64,
    "parent_id": pl.Int64,
}
MEMORY = {
    "ts_ns": pl.Int64,
    "bytes": pl.Int64,
    "total_allocated": pl.Int64,
    "total_reserved": pl.Int64,
    "device_type": pl.Int32,
    "device": pl.Int32,
}


class Signature(msgspec.Struct, frozen=True):
    """The recorded inputs of an op; every field is empty when shapes were not recorded.

    `dims[i]` is the shape of input i (a list of ints; a list of shapes for a tensor list; empty for a scalar),
    `types[i]` its type as Kineto writes it ("c10::BFloat16", "float", "Scalar", "TensorList", ""), `strides[i]` its
    strides in elements, `concrete[i]` the text of a scalar or scalar list ("" when there is none), `extra` the other
    arguments that costs may need (inductor's kernel facts, a collective's name and element counts).
    """

    dims: tuple[Any, ...] = ()
    types: tuple[str, ...] = ()
    strides: tuple[Any, ...] = ()
    concrete: tuple[str, ...] = ()
    extra: dict[str, Any] = {}


class TraceWarning(msgspec.Struct, frozen=True):
    """Something about the data that a reader of the result must know. `code` is stable and documented."""

    code: str
    message: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Header:
    """What the trace says of itself, outside its events."""

    device_properties: tuple[dict[str, Any], ...] = ()
    distributed: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    """Every other top-level key that is small; `metadata["boundby"]` is our recorder's own (see `tracer.marks`)."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One trace, read. See the module's docstring for the frames' columns."""

    path: str
    kernels: pl.DataFrame
    launches: pl.DataFrame
    ops: pl.DataFrame
    spans: pl.DataFrame
    frames: pl.DataFrame
    memory: pl.DataFrame
    header: Header
    signatures: Sequence[Signature]
    kernel_args: Sequence[dict[str, Any]]
    """Distinct static arguments of kernels: grid, block, "registers per thread", "shared memory", CUPTI metrics, a
    collective's name and counts. Index 0 is the empty dict."""
    process_names: tuple[str, ...]
    thread_names: tuple[str, ...]
    n_events: int
    origin_ns: int = 0
    """Nanoseconds of the trace's own clock at time 0 here; `ts` in the file is `(ts_ns + origin_ns) / 1000`."""
    warnings: tuple[TraceWarning, ...] = ()
