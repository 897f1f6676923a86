"""`Work`: what occupied the device, one row an item: a kernel, a copy or a set on a GPU; an op's own time on a CPU.

Where a formula knows an op, the op's cost goes to the items under it: each item belongs to the innermost op around its
launch that has a formula (its anchor). Copies and sets inside an anchor carry their own bytes; the anchor's cost is
shared among its other items by their time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from .correlate import Linked
from .costs import anchor_rows, costs_of, is_free
from .costs.cost import Call, Cost
from .kernel_names import KernelName, recognise

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

KERNEL, MEMCPY, MEMSET, OP = range(4)
_FREE = Cost(family="other")
_KINDS = {"kernel": KERNEL, "memcpy": MEMCPY, "memset": MEMSET}


@dataclass(frozen=True, slots=True)
class Work:
    """Columns of equal length, sorted by start. NaN is an unknown figure, -1 an unknown row."""

    start: Ints
    end: Ints
    time: Ints
    """What the item took, ns: its duration on a GPU, its own time on a CPU."""
    name: Ints
    """Index into `names`."""
    kind: Ints
    device: Ints
    launch: Ints
    anchor: Ints
    """Row in `ops` of the op whose cost covers the item."""
    call: Ints
    """Index into `calls` of that op's distinct call."""
    flops: Floats
    bytes: Floats
    names: tuple[KernelName, ...]
    full_names: tuple[str, ...]
    calls: tuple[Call, ...]
    costs: tuple[Cost | None, ...]
    """Per call; None for an op without a formula or without usable shapes."""

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, slots=True)
class Anchors:
    """Which op's formula covers each op: per op row, the call it makes and the nearest costed op at or above it."""

    call: Ints
    anchor: Ints
    idle: npt.NDArray[np.bool_]
    """Ops that do no work of their own: views, allocations, ops that handed their work on."""
    calls: tuple[Call, ...]
    costs: tuple[Cost | None, ...]


def anchor_ops(linked: Linked) -> Anchors:
    """Price each distinct call once, and find for each op the op whose cost covers it (-1 for none)."""
    ops = linked.trace.ops
    distinct = ops.select(
        "name", "signature", (pl.struct("name", "signature").rank("dense").cast(pl.Int64) - 1).alias("call")
    )
    firsts = distinct.unique("call", keep="first").sort("call")
    calls = tuple(_call(linked, name, signature) for name, signature in firsts.select("name", "signature").iter_rows())
    costs = costs_of(calls)
    call = distinct["call"].to_numpy()
    anchor, idle = anchor_rows(call, linked.parent_of, calls, costs)
    return Anchors(call, anchor, idle, calls, costs)


def _call(linked: Linked, name: str, signature: int) -> Call:
    s = linked.trace.signatures[signature] if len(linked.trace.signatures) else None
    if s is None:
        return Call(name)
    return Call(name, s.dims, s.types, s.strides, s.concrete, s.extra)


def device_work(linked: Linked) -> Work:
    """The items of a GPU trace: its device events, in start order."""
    kernels = linked.trace.kernels
    anchors = anchor_ops(linked)
    distinct, name = _number(kernels["name"])
    start = kernels["ts_ns"].to_numpy()
    time = kernels["dur_ns"].to_numpy()
    kind = kernels["kind"].replace_strict(_KINDS, return_dtype=pl.Int64).to_numpy()
    anchor = _at(anchors.anchor, linked.op_of)
    own_bytes = kernels["bytes"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    flops, moved = _share_costs(anchors, anchor, kind, time, own_bytes)
    return Work(
        start=start,
        end=start + time,
        time=time,
        name=name,
        kind=kind,
        device=kernels["device"].cast(pl.Int64).fill_null(-1).to_numpy(),
        launch=linked.launch_of,
        anchor=anchor,
        call=_at(anchors.call, anchor),
        flops=flops,
        bytes=moved,
        names=tuple(recognise(n) for n in distinct),
        full_names=tuple(distinct),
        calls=anchors.calls,
        costs=anchors.costs,
    )


def host_work(linked: Linked, *, own_ns: Ints) -> Work:
    """The items of a CPU trace: ops that stand for themselves (a formula covers them, or nothing above them has one),
    each with the own time of everything it covers. `own_ns` is each op's time less its children's."""
    anchors = anchor_ops(linked)
    ops = linked.trace.ops
    stands = np.where(anchors.anchor >= 0, anchors.anchor, np.arange(ops.height))
    total = np.bincount(stands, weights=own_ns, minlength=ops.height).astype(np.int64)
    rows = np.unique(stands)
    distinct, name = _number(ops["name"])
    start = ops["ts_ns"].to_numpy()
    # An op that makes a view, allocates or hands its work on moves nothing itself: its time is the framework's.
    idle = anchors.idle[rows] & (anchors.anchor[rows] < 0)
    priced = [_FREE if c is None and is_free(k.name) else c for c, k in zip(anchors.costs, anchors.calls, strict=True)]
    flops = np.array([np.nan if c is None else c.flops for c in priced], float)
    moved = np.array([np.nan if c is None else c.bytes for c in priced], float)
    call = anchors.call[rows]
    return Work(
        start=start[rows],
        end=(start + ops["dur_ns"].to_numpy())[rows],
        time=total[rows],
        name=name[rows],
        kind=np.full(len(rows), OP),
        device=np.zeros(len(rows), np.int64),
        launch=np.full(len(rows), -1, np.int64),
        anchor=rows,
        call=call,
        flops=np.where(idle, 0.0, flops[call]) if len(flops) else np.empty(0),
        bytes=np.where(idle, 0.0, moved[call]) if len(moved) else np.empty(0),
        names=tuple(recognise(n) for n in distinct),
        full_names=tuple(distinct),
        calls=anchors.calls,
        costs=tuple(priced),
    )


def _number(names: pl.Series) -> tuple[list[str], Ints]:
    """Distinct names in order of first appearance, and per row the number of its name."""
    if not len(names):
        return [], np.empty(0, np.int64)
    distinct = names.unique(maintain_order=True)
    numbers = pl.Series(np.arange(len(distinct), dtype=np.int64))
    return distinct.to_list(), names.replace_strict(distinct, numbers, return_dtype=pl.Int64).to_numpy()


def own_times(linked: Linked) -> Ints:
    """Per op: its duration less that of its direct children on the same thread, at least 0, ns."""
    dur = linked.trace.ops["dur_ns"].to_numpy()
    inner = linked.parent_of >= 0
    children = np.bincount(linked.parent_of[inner], weights=dur[inner], minlength=len(dur))
    own: Ints = np.maximum(dur - children.astype(np.int64), 0)
    return own


def _at(values: Ints, rows: Ints) -> Ints:
    return np.where(rows >= 0, values[rows], -1) if len(values) else np.full(len(rows), -1, np.int64)


def _share_costs(anchors: Anchors, anchor: Ints, kind: Ints, time: Ints, own_bytes: Floats) -> tuple[Floats, Floats]:
    n_ops = len(anchors.call)
    flops = np.full(len(anchor), np.nan)
    moved = np.full(len(anchor), np.nan)
    # A copy reads and writes what it moves (on the device both are its own traffic); a set writes it.
    moved[kind == MEMCPY] = 2 * own_bytes[kind == MEMCPY]
    moved[kind == MEMSET] = own_bytes[kind == MEMSET]
    flops[~np.isnan(moved)] = 0.0
    shared = (anchor >= 0) & (kind == KERNEL)
    if shared.any():
        rows = anchor[shared]
        weight = np.maximum(time[shared], 1).astype(float)
        weight /= np.bincount(rows, weights=weight, minlength=n_ops)[rows]
        cost_flops = np.array([0.0 if c is None else c.flops for c in anchors.costs])
        cost_bytes = np.array([0.0 if c is None else c.bytes for c in anchors.costs])
        call = anchors.call[rows]
        flops[shared] = cost_flops[call] * weight
        moved[shared] = cost_bytes[call] * weight
    return flops, moved
