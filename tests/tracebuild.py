"""Small traces from rows: what a test lays out by hand, as the columns the analyzers read.

Each row is a dict of columns; what it leaves out gets the default below. Rows are sorted as a reader would sort them (by
start, parents first), so row numbers follow that order, not the order given. Two conveniences: an op's `dims`, `types`,
`strides`, `concrete` and `extra` become its signature, and a kernel's `args` is the dict itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from boundby.analyzers.trace import (
    FRAMES,
    KERNELS,
    LAUNCHES,
    MEMORY,
    OPS,
    SPANS,
    Header,
    Signature,
    Trace,
    TraceWarning,
)

Row = dict[str, Any]

_HOST: Row = {"ts_ns": 0, "dur_ns": 1_000, "pid": 0, "tid": 0}
KERNEL: Row = {"ts_ns": 0, "dur_ns": 1_000, "name": "kernel", "kind": "kernel", "device": 0, "stream": 7}
LAUNCH: Row = {**_HOST, "name": "cudaLaunchKernel"}
OP: Row = {**_HOST, "name": "aten::op"}
SPAN: Row = {**_HOST, "name": "span", "on_device": False}
FRAME: Row = {**_HOST, "name": "module.py(1): function"}
MEMORY_EVENT: Row = {"ts_ns": 0, "bytes": 0}
_SIGNATURE = tuple(Signature.__struct_fields__)


def make_trace(
    *,
    kernels: Iterable[Row] = (),
    launches: Iterable[Row] = (),
    ops: Iterable[Row] = (),
    spans: Iterable[Row] = (),
    frames: Iterable[Row] = (),
    memory: Iterable[Row] = (),
    header: Header | None = None,
    path: str = "trace.json",
    warnings: Sequence[TraceWarning] = (),
) -> Trace:
    """A `Trace` of these rows. Times are in ns from the origin; pid and tid are ids as they stand."""
    kernel_args: list[dict[str, Any]] = [{}]
    signatures: list[Signature] = []
    kernel_rows = [_with_args({**KERNEL, **row}, kernel_args) for row in kernels]
    op_rows = [_with_signature({**OP, **row}, signatures) for row in ops]
    launch_rows, span_rows = [{**LAUNCH, **row} for row in launches], [{**SPAN, **row} for row in spans]
    frame_rows, memory_rows = [{**FRAME, **row} for row in frames], [{**MEMORY_EVENT, **row} for row in memory]
    hosted = [*launch_rows, *op_rows, *span_rows, *frame_rows]
    every = [kernel_rows, launch_rows, op_rows, span_rows, frame_rows, memory_rows]
    return Trace(
        path=path,
        kernels=_frame(kernel_rows, KERNELS),
        launches=_frame(launch_rows, LAUNCHES),
        ops=_frame(op_rows, OPS),
        spans=_frame(span_rows, SPANS),
        frames=_frame(frame_rows, FRAMES),
        memory=_frame(memory_rows, MEMORY),
        header=header or Header(),
        signatures=signatures or [Signature()],
        kernel_args=kernel_args,
        process_names=tuple(f"process {n}" for n in range(1 + max([row["pid"] for row in hosted], default=0))),
        thread_names=tuple(f"thread {n}" for n in range(1 + max([row["tid"] for row in hosted], default=0))),
        n_events=sum(map(len, every)),
        warnings=tuple(warnings),
    )


def _with_args(row: Row, kernel_args: list[dict[str, Any]]) -> Row:
    args = row.pop("args", {})
    if args not in kernel_args:
        kernel_args.append(args)
    return {**row, "args": kernel_args.index(args)}


def _with_signature(row: Row, signatures: list[Signature]) -> Row:
    given = {field: row.pop(field) for field in _SIGNATURE if field in row}
    frozen = {k: v if k == "extra" else tuple(v) for k, v in given.items()}
    signature = Signature(**frozen)
    if signature not in signatures:
        signatures.append(signature)
    return {**row, "signature": signatures.index(signature)}


def _frame(rows: list[Row], schema: dict[str, Any]) -> pl.DataFrame:
    unknown = {column for row in rows for column in row} - set(schema)
    if unknown:
        raise KeyError(f"no such column: {', '.join(sorted(unknown))}")
    frame = pl.DataFrame([{column: row.get(column) for column in schema} for row in rows], schema=schema)
    if "dur_ns" not in schema:
        return frame.sort("ts_ns", maintain_order=True)
    return frame.sort("ts_ns", "dur_ns", descending=[False, True], maintain_order=True)
