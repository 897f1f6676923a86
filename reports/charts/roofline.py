"""The roofline of a phase: its operators by intensity and rate, under the device's limits, beside the prediction."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10, sqrt
from typing import TYPE_CHECKING

from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from .. import units
from .style import colour, known, marker
from .svg import mark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from boundby.analyzers.analysis import DeviceInfo, Phase

LARGEST, SMALLEST = 520.0, 22.0
"""Marker areas in points²: an operator that takes all the time, and the least that can still be hit."""
NUMBERED = 9
"""Operators whose rank is written beside their point: the same rank as in the table."""


@dataclass(frozen=True)
class Point:
    """One operator that has a place on the chart. `key` is the id of its row; rates in FLOP/s, intensity in FLOP/B."""

    key: str
    rank: int
    bound_class: str
    intensity: float
    rate: float
    share: float


def points(phase: Phase, *, key: str, limit: int) -> list[Point]:
    """The first `limit` operators (by time) that have FLOPs, bytes and time; `key`-N is the id of the N-th row."""
    total = sum(row.time_us for row in phase.operators) or 1.0
    return [
        Point(
            f"{key}-{rank}",
            rank,
            row.bound_class,
            row.flops / row.bytes,
            row.flops / (row.time_us * 1e-6),
            row.time_us / total,
        )
        for rank, row in enumerate(phase.operators[:limit], 1)
        if row.flops and row.bytes and row.time_us > 0
    ]


def roof(phase: Phase, device: DeviceInfo) -> tuple[float, float] | None:
    """Peak FLOP/s and bandwidth B/s that the phase is judged by, or None when the device is not known.

    The peak is that of the unit which runs most of the phase's FLOPs (ridge x bandwidth); without one, the highest.
    """
    if not device.bandwidth_gb_s or not device.peak_tflops:
        return None
    bandwidth = device.bandwidth_gb_s * 1e9
    return (phase.ridge * bandwidth if phase.ridge else max(device.peak_tflops.values()) * 1e12), bandwidth


def draw_roofline(ax: Axes, phase: Phase, device: DeviceInfo, shown: Sequence[Point], *, legend: bool = False) -> None:
    """Draw on `ax`, with a `legend` where nothing beside the chart explains its marks.

    Raises `ValueError` when the device's peaks are not known.
    """
    limits = roof(phase, device)
    if limits is None:
        raise ValueError(f"no peaks are known of {device.name or 'this device'}: pass --device")
    peak, bandwidth = limits
    whole = _whole(phase)
    predicted = _predicted(phase)
    xs = [p.intensity for p in shown] + [x for x, _ in (*whole, *predicted)] + [peak / bandwidth]
    ys = [p.rate for p in shown] + [y for _, y in (*whole, *predicted)] + [peak]
    low, high = min(xs) / 3, max(xs) * 4
    floor_rate = min(ys) / 3
    _draw_roofs(ax, device, peak, bandwidth, low, high)
    for point in reversed(shown):
        _draw_point(ax, point)
    for x, y in predicted:
        ax.scatter(
            [x],
            [y],
            s=70,
            marker="D",
            facecolors="none",
            edgecolors="#000000",
            linewidths=1.4,
            zorder=5,
            gid=mark("predicted"),
            label="predicted",
        )
    for x, y in whole:
        ax.plot([x, x], [y, min(peak, bandwidth * x)], color="#000000", linestyle=":", linewidth=1.1, gid=mark("reach"))
        ax.scatter(
            [x],
            [y],
            s=190,
            marker="*",
            color="#000000",
            edgecolors="#ffffff",
            zorder=5,
            gid=mark("whole"),
            label=f"{phase.kind} as a whole",
        )
    if legend and (whole or predicted):
        ax.legend(loc="lower right", fontsize=9)
    ax.annotate(
        f"ridge {units.number(peak / bandwidth)} FLOP/B",
        (peak / bandwidth, floor_rate),
        xytext=(5, 6),
        textcoords="offset points",
        fontsize=9,
    )
    _draw_axes(ax, low, high, floor_rate, max(*ys, peak) * 3)


def _whole(phase: Phase) -> list[tuple[float, float]]:
    if phase.intensity and phase.achieved_tflops:
        return [(phase.intensity, phase.achieved_tflops * 1e12)]
    return []


def _predicted(phase: Phase) -> list[tuple[float, float]]:
    given = phase.predicted
    if given is None or not given.intensity or not given.wall_us or not given.flops:
        return []
    return [(given.intensity, given.flops / (given.wall_us * 1e-6))]


def _draw_roofs(ax: Axes, device: DeviceInfo, peak: float, bandwidth: float, low: float, high: float) -> None:
    ridge = peak / bandwidth
    ax.plot([low, ridge, high], [low * bandwidth, peak, peak], color="#000000", linewidth=2, gid=mark("roof"))
    ax.plot([ridge, ridge], [peak / 1e12, peak], color="#000000", linewidth=0.8, linestyle="--", gid=mark("ridge"))
    middle = sqrt(low * ridge)
    ax.annotate(
        units.byte_rate(device.bandwidth_gb_s),
        (middle, middle * bandwidth),
        xytext=(-4, 8),
        textcoords="offset points",
        fontsize=9,
        ha="right",
    )
    for dtype, tflops in device.peak_tflops.items():
        value = tflops * 1e12
        main = abs(value - peak) < 1e-3 * peak
        if not main and value >= peak / 40 and value <= peak * 4:
            ax.plot(
                [value / bandwidth, high],
                [value, value],
                color="#000000",
                linewidth=0.7,
                linestyle="--",
                gid=mark("roof2"),
            )
        if main or (peak / 40 <= value <= peak * 4):
            text = f"{dtype} {units.flop_rate(tflops)}"
            ax.annotate(text, (high, value), xytext=(-2, 3), textcoords="offset points", fontsize=9, ha="right")


def _draw_point(ax: Axes, point: Point) -> None:
    area = max(SMALLEST, LARGEST * point.share)
    name = colour(point.bound_class)
    ax.scatter(
        [point.intensity],
        [point.rate],
        s=area,
        marker=marker(point.bound_class),
        color=name,
        alpha=0.9,
        edgecolors="#ffffff",
        linewidths=0.8,
        gid=mark(f"pt c-{known(point.bound_class)}", point.key),
    )
    if point.rank <= NUMBERED:
        inside = area > 150
        ax.annotate(
            str(point.rank),
            (point.intensity, point.rate),
            xytext=(0, 0) if inside else (6, 4),
            textcoords="offset points",
            fontsize=8,
            weight="bold",
            ha="center" if inside else "left",
            va="center" if inside else "bottom",
            color="#ffffff" if inside else "#000000",
            zorder=6,
            gid=mark("rank inside" if inside else "rank"),
        )


def _draw_axes(ax: Axes, low: float, high: float, bottom: float, top: float) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(low, high)
    ax.set_ylim(bottom, top)
    ax.set_xlabel("arithmetic intensity (FLOP per byte of memory traffic)")
    ax.set_ylabel("rate (FLOP/s)")
    ax.set_facecolor("none")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _engineering(value)))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(LogLocator(numticks=10))
        axis.set_minor_formatter(NullFormatter())
    ax.grid(visible=True, which="major", color="#000000", alpha=0.12, linewidth=0.6)


def _tick(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:.{-floor(log10(value))}f}"


def _engineering(value: float) -> str:
    digits, _, prefix = units.scaled(value, "").partition(" ")
    return f"{float(digits):g} {prefix}".strip()
