"""The roofline of a phase: its operators by intensity and rate, under the device's limits, beside the prediction."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10, sqrt
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from .. import units, wording
from .style import colour, known, marker
from .svg import mark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from boundby.analyzers.analysis import DeviceInfo, Phase

LARGEST, SMALLEST = 900.0, 24.0
"""Marker areas in points²: an operator that takes all the time, and the least that can still be hit."""
NUMBERED = 9
"""Operators whose rank is written beside their point: the same rank as in the table."""
MATTERS = 0.003
"""Share of the time from which an operator's rate sets the range of the axis; slower ones of less time stand at its foot."""
NO_FLOPS = 1e-3
"""FLOP/B under which an operator stands in the strip of those without FLOPs: its memory rate says all about it."""


@dataclass(frozen=True)
class Point:
    """One operator that has a place on the chart. `key` is the id of its row; rates in FLOP/s and B/s."""

    key: str
    rank: int
    bound_class: str
    intensity: float
    """FLOP/B."""
    rate: float
    byte_rate: float
    share: float


def points(phase: Phase, *, key: str, limit: int) -> list[Point]:
    """The first `limit` operators (by time) that have known FLOPs, bytes and time; `key`-N is the id of the N-th row."""
    total = sum(row.time_us for row in phase.operators) or 1.0
    found = []
    for rank, row in enumerate(phase.operators[:limit], 1):
        if row.flops is not None and row.bytes and row.time_us > 0:
            seconds = row.time_us * 1e-6
            rates = row.flops / seconds, row.bytes / seconds
            found.append(
                Point(f"{key}-{rank}", rank, row.bound_class, row.flops / row.bytes, *rates, row.time_us / total)
            )
    return found


def roof(phase: Phase, device: DeviceInfo) -> tuple[float, float] | None:
    """Peak FLOP/s and bandwidth B/s that the phase is judged by, or None when the device is not known.

    The peak is that of the unit which runs most of the phase's FLOPs (ridge x bandwidth); without one, the highest.
    """
    if not device.bandwidth_gb_s or not device.peak_tflops:
        return None
    bandwidth = device.bandwidth_gb_s * 1e9
    return (phase.ridge * bandwidth if phase.ridge else max(device.peak_tflops.values()) * 1e12), bandwidth


@dataclass(frozen=True)
class _Scene:
    """What is drawn where: (x, y, point) of each operator, the other marks, and the limits of the axes."""

    peak: float
    bandwidth: float
    placed: list[tuple[float, float, Point]]
    whole: list[tuple[float, float]]
    predicted: list[tuple[float, float]]
    strip: float | None
    """Where the strip of operators without FLOPs ends; None without one."""
    low: float
    high: float

    @classmethod
    def of(cls, phase: Phase, peak: float, bandwidth: float, shown: Sequence[Point]) -> _Scene:
        whole, predicted = _whole(phase), _predicted(phase)
        priced = [(p.intensity, p.rate, p) for p in shown if p.intensity >= NO_FLOPS]
        bare = [p for p in shown if p.intensity < NO_FLOPS]
        xs = [x for x, _, _ in priced] + [x for x, _ in (*whole, *predicted)] + [peak / bandwidth]
        low, strip = min(xs) / 3, None
        if bare:
            strip, low = low, low / 12
        spread = [low * 1.4 * ((strip or low) / low / 1.8) ** (n / max(1, len(bare) - 1)) for n in range(len(bare))]
        placed = priced + [(x, x * p.byte_rate, p) for x, p in zip(spread, bare, strict=True)]
        return cls(
            peak, bandwidth, sorted(placed, key=lambda at: at[2].rank), whole, predicted, strip, low, max(xs) * 4
        )

    @property
    def top(self) -> float:
        """The upper end of the rates' axis."""
        marks = (*self.whole, *self.predicted)
        return max([self.peak, *(y for _, y in marks), *(y for _, y, _ in self.placed)]) * 3

    @property
    def bottom(self) -> float:
        """The lower end: below all that matters. An operator of hardly any time must not squeeze the others."""
        heavy = [y for _, y, point in self.placed if point.share >= MATTERS]
        return min([self.peak / 100, *heavy, *(y for _, y in (*self.whole, *self.predicted))]) / 4


def draw_roofline(ax: Axes, phase: Phase, device: DeviceInfo, shown: Sequence[Point], *, legend: bool = False) -> None:
    """Draw on `ax`, with a `legend` where nothing beside the chart explains its marks.

    Raises `ValueError` when the device's peaks are not known.
    """
    limits = roof(phase, device)
    if limits is None:
        raise ValueError(f"no peaks are known of {device.name or 'this device'}: pass --device")
    scene = _Scene.of(phase, *limits, shown)
    _draw_axes(ax, scene)
    _draw_roofs(ax, device, scene)
    for x, y, point in reversed(scene.placed):
        _draw_point(ax, x, max(y, scene.bottom * 1.3), point)
    _draw_phase(ax, phase, scene)
    if legend and (scene.whole or scene.predicted):
        ax.legend(loc="lower right", fontsize=9)


def _whole(phase: Phase) -> list[tuple[float, float]]:
    if phase.intensity and phase.achieved_tflops and wording.rates_known(phase):
        return [(phase.intensity, phase.achieved_tflops * 1e12)]
    return []


def _predicted(phase: Phase) -> list[tuple[float, float]]:
    given = phase.predicted
    if given is None or not given.intensity or not given.wall_us or not given.flops:
        return []
    return [(given.intensity, given.flops / (given.wall_us * 1e-6))]


def _draw_phase(ax: Axes, phase: Phase, scene: _Scene) -> None:
    """The phase as a whole, what it lacks to the roof, and the prediction."""
    hollow: dict[str, Any] = {"facecolors": "none", "edgecolors": "#000000", "linewidths": 1.4}
    for x, y in scene.predicted:
        ax.scatter([x], [y], s=70, marker="D", zorder=5, gid=mark("predicted"), label="predicted", **hollow)
    for x, y in scene.whole:
        limit = min(scene.peak, scene.bandwidth * x)
        ax.plot([x, x], [y, limit], color="#000000", linestyle=":", linewidth=1.1, gid=mark("reach"))
        star: dict[str, Any] = {"s": 190, "marker": "*", "color": "#000000", "edgecolors": "#ffffff"}
        ax.scatter([x], [y], zorder=5, gid=mark("whole"), label=f"{phase.kind} as a whole", **star)


def _draw_roofs(ax: Axes, device: DeviceInfo, scene: _Scene) -> None:
    peak, bandwidth, low, high = scene.peak, scene.bandwidth, scene.low, scene.high
    ridge = peak / bandwidth
    ax.plot([low, ridge, high], [low * bandwidth, peak, peak], color="#000000", linewidth=2, gid=mark("roof"))
    ax.plot([ridge, ridge], [scene.bottom, peak], color="#000000", linewidth=0.8, linestyle="--", gid=mark("ridge"))
    _note(ax, f"ridge {units.number(ridge)} FLOP/B", ridge, scene.bottom, (5, 6))
    middle = sqrt((scene.strip or low) * ridge)
    _note(ax, units.byte_rate(device.bandwidth_gb_s), middle, middle * bandwidth, (-4, 8), ha="right")
    # A line of text is 13 of the chart's about 300 points high.
    apart = (scene.top / scene.bottom) ** (13 / 300)
    for tflops, dtypes in _peaks(device, peak, apart):
        value = tflops * 1e12
        if abs(value - peak) > 1e-3 * peak:
            ax.plot(
                [value / bandwidth, high],
                [value, value],
                color="#000000",
                linewidth=0.7,
                linestyle="--",
                gid=mark("roof2"),
            )
        _note(ax, f"{dtypes}: {units.flop_rate(tflops)}", high, value, (4, 0), va="center")


def _peaks(device: DeviceInfo, peak: float, apart: float) -> list[tuple[float, str]]:
    """Distinct peaks near enough to that of the phase to be drawn, each with the dtypes that share it, a factor apart."""
    shared: dict[float, list[str]] = {}
    for dtype, tflops in device.peak_tflops.items():
        shared.setdefault(tflops, []).append(dtype)
    chosen: list[float] = []
    for tflops in sorted(shared, key=lambda value: abs(value * 1e12 - peak)):
        if peak / 40 <= tflops * 1e12 <= peak * 2.5 and all(max(tflops, o) >= apart * min(tflops, o) for o in chosen):
            chosen.append(tflops)
    return [(tflops, ", ".join(shared[tflops])) for tflops in chosen]


def _note(ax: Axes, text: str, x: float, y: float, offset: tuple[int, int], **style: Any) -> None:
    ax.annotate(text, (x, y), xytext=offset, textcoords="offset points", fontsize=9, **style)


def _draw_point(ax: Axes, x: float, y: float, point: Point) -> None:
    area = max(SMALLEST, LARGEST * point.share)
    name = known(point.bound_class)
    style: dict[str, Any] = {"marker": marker(name), "color": colour(name), "edgecolors": "#ffffff", "linewidths": 0.8}
    ax.scatter([x], [y], s=area, alpha=0.9, zorder=3, gid=mark(f"pt c-{name}", point.key), **style)
    if point.rank > NUMBERED:
        return
    place: dict[str, Any] = {"xytext": (4, 3), "ha": "left", "va": "bottom", "color": "#000000", "gid": mark("rank")}
    if area > 150:
        place = {"xytext": (0, 0), "ha": "center", "va": "center", "color": "#ffffff", "gid": mark("rank inside")}
    ax.annotate(str(point.rank), (x, y), textcoords="offset points", fontsize=8, weight="bold", zorder=6, **place)


def _draw_axes(ax: Axes, scene: _Scene) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(scene.low, scene.high)
    ax.set_ylim(scene.bottom, scene.top)
    ax.set_xlabel("arithmetic intensity (FLOP per byte of memory traffic)")
    ax.set_ylabel("rate (FLOP/s)")
    ax.set_facecolor("none")
    start = scene.strip or scene.low
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value) if value >= start else ""))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _engineering(value)))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(LogLocator(numticks=10))
        axis.set_minor_formatter(NullFormatter())
    ax.grid(visible=True, which="major", color="#000000", alpha=0.12, linewidth=0.6)
    if scene.strip:
        ax.axvspan(scene.low, scene.strip, color="#000000", alpha=0.06, linewidth=0, gid=mark("strip"))
        _note(ax, "no FLOPs", scene.low, scene.top, (5, -4), va="top")


def _tick(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:.{-floor(log10(value))}f}"


def _engineering(value: float) -> str:
    digits, _, prefix = units.scaled(value, "").partition(" ")
    return f"{float(digits):g} {prefix}".strip()
