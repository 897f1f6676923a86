"""The tables of a phase: operators, kernels, parts, steps. Sums over the phase's items, heaviest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from .analysis import KernelRow, OperatorRow, PartRow
from .classes import CLASSES, Roof
from .device import Device
from .work import Work

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Items:
    """One trace's work, judged: the work, its roofline times, classes, owners, the part of the model of each item, and
    the idle time that stands before each (ns)."""

    work: Work
    roof: Roof
    classes: Ints
    owner: Ints
    part: tuple[str, ...]
    """Distinct parts; `part_of[i]` indexes them."""
    part_of: Ints
    known_by: tuple[str, ...]
    """How each item's cost is known: index `known_of` into this."""
    known_of: Ints
    gap_before: Ints

    def frame(self, mine: npt.NDArray[np.bool_]) -> pl.DataFrame:
        """The chosen items as a polars frame; NaN figures become null."""
        w = self.work
        rows = np.flatnonzero(mine)
        return pl.DataFrame(
            {
                "name": w.name[rows],
                "call": w.call[rows],
                "anchor": w.anchor[rows],
                "time": w.time[rows],
                "flops": w.flops[rows],
                "bytes": w.bytes[rows],
                "roof": self.roof.bound[rows],
                "class": self.classes[rows],
                "part": self.part_of[rows],
                "known": self.known_of[rows],
                "gap": self.gap_before[rows],
            },
            schema=_SCHEMA,
            nan_to_null=True,
        )


_FIGURES = ("flops", "bytes", "roof")
_SCHEMA = {
    name: pl.Float64 if name in _FIGURES else pl.Int64
    for name in ("name", "call", "anchor", "time", *_FIGURES, "class", "part", "known", "gap")
}
_SUMS = (
    pl.len().alias("items"),
    pl.col("time").sum(),
    pl.when(pl.col("flops").is_not_null().any()).then(pl.col("flops").sum()).alias("flops"),
    pl.when(pl.col("bytes").is_not_null().any()).then(pl.col("bytes").sum()).alias("bytes"),
    # An efficiency is told only where the roof of every item is known; a part would overstate it.
    pl.when(pl.col("roof").is_not_null().all()).then(pl.col("roof").sum()).alias("roof"),
    pl.col("gap").sum(),
)


def _rate(amount: float | None, time_ns: int, scale: float) -> float | None:
    return None if amount is None or not time_ns else amount / (time_ns * 1e-9) / scale


def _heaviest(frame: pl.DataFrame, keys: Sequence[str], column: str) -> pl.DataFrame:
    """Per group of `keys`: the value of `column` that holds the most time."""
    return (
        frame.group_by([*keys, column])
        .agg(pl.col("time").sum().alias("_time"))
        .sort("_time", descending=True)
        .unique(list(keys), keep="first", maintain_order=True)
        .select(*keys, column)
    )


def operator_rows(items: Items, mine: npt.NDArray[np.bool_], device: Device) -> tuple[OperatorRow, ...]:
    """One row a distinct call (op and shapes); items under no op go by their kernel's name."""
    frame = items.frame(mine).with_columns(
        pl.when(pl.col("call") >= 0).then(-1).otherwise(pl.col("name")).alias("kernel")
    )
    keys = ["call", "kernel"]
    sums = frame.group_by(keys).agg(
        *_SUMS,
        pl.col("anchor").n_unique().alias("calls"),
        pl.col("name").unique(maintain_order=True).alias("kernels"),
    )
    for column in ("class", "part", "known"):
        sums = sums.join(_heaviest(frame, keys, column), on=keys, how="left")
    return tuple(
        _operator(items, row, device)
        for row in sums.sort("time", "call", "kernel", descending=[True, False, False]).iter_rows(named=True)
    )


def _operator(items: Items, row: dict[str, Any], device: Device) -> OperatorRow:
    work = items.work
    call, kernel, time = row["call"], row["kernel"], row["time"]
    cost = work.costs[call] if call >= 0 else None
    rate = _rate(row["bytes"], time, 1e9)
    roof = row["roof"]
    return OperatorRow(
        name=work.calls[call].name if call >= 0 else work.names[kernel].short,
        part=items.part[row["part"]],
        family=cost.family if cost is not None else work.names[kernel].family,
        count=row["calls"] if call >= 0 else row["items"],
        time_us=time / 1e3,
        flops=row["flops"],
        bytes=row["bytes"],
        achieved_tflops=_rate(row["flops"], time, 1e12),
        achieved_gb_s=rate,
        efficiency=_rate(roof, time, 1.0),
        bound_class=CLASSES[row["class"]],
        known_by=items.known_by[row["known"]],
        shapes=shapes_text(work.calls[call].dims, work.calls[call].types) if call >= 0 else "",
        kernel_names=tuple(work.names[k].short for k in row["kernels"]) if call >= 0 else (),
        cache_resident=bool(rate is not None and device.bandwidth_gb_s and rate > device.bandwidth_gb_s),
    )


def shapes_text(dims: Sequence[object], types: Sequence[str]) -> str:
    """Input shapes as people write them: "[8944,1024] [1024,2816] bf16"."""
    shown = ["[" + ",".join(str(n) for n in d) + "]" for d in dims if isinstance(d, (list, tuple)) and d]
    first = next((t for d, t in zip(dims, types, strict=False) if d and t), "")
    return " ".join([*shown, first.removeprefix("c10::")]).strip()


def kernel_rows(items: Items, mine: npt.NDArray[np.bool_]) -> tuple[KernelRow, ...]:
    """One row a distinct kernel name, with the idle time before it. `share` is of the summed kernel time."""
    frame = items.frame(mine)
    total = int(frame["time"].sum()) or 1
    sums = frame.group_by("name").agg(*_SUMS).join(_heaviest(frame, ["name"], "class"), on="name", how="left")
    return tuple(
        KernelRow(
            name=items.work.full_names[row["name"]],
            count=row["items"],
            time_us=row["time"] / 1e3,
            share=row["time"] / total,
            bound_class=CLASSES[row["class"]],
            flops=row["flops"],
            bytes=row["bytes"],
            efficiency=_rate(row["roof"], row["time"], 1.0),
            gap_before_us=row["gap"] / 1e3,
            short_name=items.work.names[row["name"]].short,
            family=items.work.names[row["name"]].family,
        )
        for row in sums.sort("time", "name", descending=[True, False]).iter_rows(named=True)
    )


def part_rows(items: Items, mine: npt.NDArray[np.bool_]) -> tuple[PartRow, ...]:
    """One row a part of the model; empty when no part but "other" is known."""
    frame = items.frame(mine)
    total = int(frame["time"].sum()) or 1
    sums = frame.group_by("part").agg(*_SUMS).join(_heaviest(frame, ["part"], "class"), on="part", how="left")
    rows = tuple(
        PartRow(
            part=items.part[row["part"]],
            time_us=row["time"] / 1e3,
            share=row["time"] / total,
            flops=row["flops"],
            bytes=row["bytes"],
            intensity=row["flops"] / row["bytes"] if row["flops"] is not None and row["bytes"] else None,
            bound_class=CLASSES[row["class"]],
        )
        for row in sums.sort("time", "part", descending=[True, False]).iter_rows(named=True)
    )
    return () if all(row.part == "other" for row in rows) else rows
