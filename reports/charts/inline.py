"""The charts of a phase as SVG for the page, with links to the rows they show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import units
from ..inert import inert
from .roofline import draw_roofline, points, roof
from .steps import draw_steps
from .svg import inline_svg

if TYPE_CHECKING:
    from boundby.analyzers.analysis import DeviceInfo, OperatorRow, Phase


def roofline_of(phase: Phase, slug: str, device: DeviceInfo, *, most: int) -> tuple[str, str]:
    """The roofline of the `most` longest operators, and a sentence on those that have no place on it; both "" without one."""
    if roof(phase, device) is None:
        return "", ""
    shown = points(phase, key=f"op-{slug}", limit=most)
    if not shown:
        return "", ""
    rows = {f"op-{slug}-{n}": row for n, row in enumerate(phase.operators[:most], 1)}
    labels = {point.key: _point_label(point.rank, rows[point.key]) for point in shown}
    chart = inline_svg(
        lambda ax: draw_roofline(ax, phase, device, shown),
        size=(8.4, 4.9),
        prefix=f"roof-{slug}",
        title=f"Roofline of {inert(phase.id, 80)}",
        links=labels,
    )
    missing = 1.0 - sum(point.share for point in shown)
    said = f"{units.percent(missing)} of the operators' time is not on the chart: without FLOPs (copies), or of unknown cost."
    return chart, said if missing > 0.005 else ""


def _point_label(rank: int, row: OperatorRow) -> str:
    rate, share = units.flop_rate(row.achieved_tflops), units.percent(row.efficiency)
    return (
        f"{rank}: {inert(row.name, 80)}, {units.duration(row.time_us)}, {rate}, {share} of the roof, {row.bound_class}"
    )


def series_of(phase: Phase, slug: str) -> str:
    """The step series, "" for a single step."""
    if len(phase.steps) < 2:
        return ""
    ylabel = "inter-token latency" if phase.kind == "decode" else "time of a step"
    return inline_svg(
        lambda ax: draw_steps(ax, phase.steps, ylabel=ylabel),
        size=(8.4, 2.9),
        prefix=f"steps-{slug}",
        title=f"Time of each step of {inert(phase.id, 80)}",
        links={},
    )
