"""Which launch a kernel came from, and which op made the launch.

Kernel to launch by `correlation` (a graph launch has many kernels); launch to op by time and thread: the innermost op
that encloses the call. Where a trace has no correlation ids, the n-th launch is the n-th kernel if the counts agree;
where it has no launches, the `External id` names the op.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from .nesting import Nest
from .trace import Trace, TraceWarning

Rows = npt.NDArray[np.int64]

ENQUEUES = r"(?i)launch|memcpy|memset"
"""Runtime and driver calls that put work on a device, CUDA, HIP and XPU alike."""


@dataclass(frozen=True, slots=True)
class Linked:
    """A trace with its events tied together. Each array holds row numbers of the named frame, -1 for none."""

    trace: Trace
    launch_of: Rows
    """Per kernel: the row in `launches` of the call that enqueued it."""
    op_of: Rows
    """Per kernel: the row in `ops` of the innermost op around that call."""
    parent_of: Rows
    """Per op: the row in `ops` of the op around it on the same thread."""


def correlate(trace: Trace) -> Linked:
    """Tie a trace's kernels, launches and ops together; the returned trace carries warnings for what does not tie."""
    launch_of, by_order = _launches_of_kernels(trace)
    nests = thread_nests(trace.ops)
    op_of = _ops_of_kernels(trace, launch_of, nests)
    parent_of = np.full(trace.ops.height, -1, np.int64)
    for nest in nests.values():
        parent_of[nest.row] = nest.parent_rows()
    warnings = (*trace.warnings, *_warnings(trace, launch_of, by_order=by_order))
    return Linked(replace(trace, warnings=warnings), launch_of, op_of, parent_of)


def thread_nests(frame: pl.DataFrame) -> dict[int, Nest]:
    """Per thread id: the frame's intervals, nested. Rows are the frame's row numbers."""
    start = frame["ts_ns"].to_numpy()
    end = start + frame["dur_ns"].to_numpy()
    tid = frame["tid"].to_numpy()
    order = np.argsort(tid, kind="stable")
    cuts = np.flatnonzero(np.diff(tid[order])) + 1
    groups = np.split(order, cuts) if len(order) else []
    return {int(tid[rows[0]]): Nest.of(start[rows], end[rows], rows) for rows in groups}


def _launches_of_kernels(trace: Trace) -> tuple[Rows, bool]:
    kernels, launches = trace.kernels, trace.launches
    none = np.full(kernels.height, -1, np.int64)
    if not (kernels.height and launches.height):
        return none, False
    if kernels["correlation"].null_count() == kernels.height:
        return _by_order(kernels, launches)
    left = kernels.select("ts_ns", "correlation").with_row_index("kernel")
    right = launches.select("ts_ns", "correlation").with_row_index("launch").filter(pl.col("correlation").is_not_null())
    if right["correlation"].is_duplicated().any():
        # Merged traces repeat ids: a kernel belongs to the last launch of its id before it, or (clock skew) the next.
        last = left.join_asof(right, on="ts_ns", by="correlation", strategy="backward", check_sortedness=False)
        following = left.join_asof(right, on="ts_ns", by="correlation", strategy="forward", check_sortedness=False)
        found = last["launch"].fill_null(following["launch"])
    else:
        found = left.join(right, on="correlation", how="left", maintain_order="left")["launch"]
    return found.cast(pl.Int64).fill_null(-1).to_numpy(), False


def _by_order(kernels: pl.DataFrame, launches: pl.DataFrame) -> tuple[Rows, bool]:
    none = np.full(kernels.height, -1, np.int64)
    calls = np.flatnonzero(launches["name"].str.contains(ENQUEUES).to_numpy())
    if len(calls) != kernels.height:
        return none, True
    starts_after = kernels["ts_ns"].to_numpy() >= launches["ts_ns"].to_numpy()[calls]
    return (calls.astype(np.int64), True) if starts_after.all() else (none, True)


def _ops_of_kernels(trace: Trace, launch_of: Rows, nests: dict[int, Nest]) -> Rows:
    op_of = np.full(trace.kernels.height, -1, np.int64)
    if trace.launches.height:
        op_of_launch = np.full(trace.launches.height, -1, np.int64)
        ts, tid = trace.launches["ts_ns"].to_numpy(), trace.launches["tid"].to_numpy()
        for thread, nest in nests.items():
            rows = np.flatnonzero(tid == thread)
            op_of_launch[rows] = nest.innermost(ts[rows])
        op_of = np.where(launch_of >= 0, op_of_launch[launch_of], -1)
    if (op_of < 0).any() and trace.ops.height and trace.kernels["external_id"].null_count() < trace.kernels.height:
        op_of = np.where((op_of < 0) & (launch_of < 0), _by_external_id(trace), op_of)
    return op_of


def _by_external_id(trace: Trace) -> Rows:
    ops = (
        trace.ops.select("external_id")
        .with_row_index("op")
        .filter(pl.col("external_id").is_not_null() & (pl.col("external_id") != 0))
        .unique("external_id", keep="first")
    )
    found = trace.kernels.select("external_id").join(ops, on="external_id", how="left", maintain_order="left")["op"]
    return found.cast(pl.Int64).fill_null(-1).to_numpy()


def _warnings(trace: Trace, launch_of: Rows, *, by_order: bool) -> list[TraceWarning]:
    found = []
    n = trace.kernels.height
    orphans = int((launch_of < 0).sum())
    if by_order and n:
        how = "by their order" if orphans < n else "not at all: the counts differ, so phases are told by device time"
        message = f"no correlation ids: {n} kernels are matched to launches {how}"
        found.append(TraceWarning("no-correlation-ids", message, n))
    elif orphans and trace.launches.height:
        message = f"{orphans} of {n} device events have no launch in the trace (launched before the capture began)"
        found.append(TraceWarning("kernels-without-launch", message, orphans))
    elif n and not trace.launches.height:
        message = "no runtime calls were recorded: idle time cannot be attributed to the host"
        found.append(TraceWarning("no-launches", message, n))
    calls = trace.launches.filter(pl.col("name").str.contains(ENQUEUES))
    if calls.height:
        have = np.zeros(trace.launches.height, bool)
        have[launch_of[launch_of >= 0]] = True
        index = trace.launches.with_row_index("row").filter(pl.col("name").str.contains(ENQUEUES))["row"].to_numpy()
        lost = int((~have[index]).sum())
        if n == 0:
            message = f"GPU activity missing: {lost} launches and no kernel; record again with the device activity on"
            found.append(TraceWarning("gpu-activity-missing", message, lost))
        elif lost and not by_order:
            message = f"{lost} of {calls.height} launches have no device event (dropped, or after the capture's end)"
            found.append(TraceWarning("launches-without-kernel", message, lost))
    if n and not trace.ops.height:
        found.append(TraceWarning("no-ops", "no CPU ops were recorded: no shapes, so costs come from names alone", n))
    elif n and not any(s.dims for s in trace.signatures):
        found.append(TraceWarning("no-shapes", "shapes were not recorded (record_shapes=True adds them)", n))
    if n and not trace.header.device_properties:
        found.append(TraceWarning("no-device-properties", "the trace does not name its device; give --device", 1))
    return found
