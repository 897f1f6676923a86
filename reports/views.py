"""What the page shows of a phase: rows cut to what a person reads, with what was cut said, and its charts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from . import units, wording
from .charts.inline import roofline_of, series_of
from .charts.steps import outliers
from .charts.timeline import draw_timeline
from .inert import inert
from .names import short

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boundby.analyzers.analysis import (
        Analysis,
        Finding,
        KernelRow,
        PartRow,
        Phase,
        PredictedPart,
        StepRow,
    )

    from .charts.timeline import Drawing

T = TypeVar("T")


@dataclass(frozen=True)
class Caps:
    """How much of a long trace goes on the page."""

    rows: int = 120
    steps: int = 200
    phases: int = 12
    charted_phases: int = 6
    points: int = 60
    timeline_items: int = 1500
    sentences: int = 24

    def tighter(self) -> Caps:
        """A third of the rows, for a page that came out too large."""
        return Caps(
            self.rows // 3,
            self.steps // 3,
            self.phases,
            3,
            self.points // 2,
            self.timeline_items // 3,
            self.sentences // 2,
        )


@dataclass(frozen=True)
class Rows:
    """The rows of a table that are shown, and a sentence on those that are not ("" if none)."""

    shown: Sequence[Any]
    rest: str


@dataclass(frozen=True)
class PhaseView:
    """A phase, ready to be laid out."""

    phase: Phase
    slug: str
    name: str
    label: str
    sentence: str
    margin: str
    workload: str
    helps: str
    facts: Sequence[tuple[str, str]]
    predicted: str | None
    best: Finding | None
    bar: Sequence[tuple[str, float, float]]
    """(class, where it starts, its share), in the fixed order."""
    causes: Sequence[tuple[str, float, float]]
    """(cause in words, µs, share of the wall), largest first."""
    evidence: Sequence[str]
    findings: Sequence[Finding]
    kernels: Rows
    operators: Rows
    parts: Sequence[tuple[PartRow, PredictedPart | None]]
    steps: Rows
    outliers: Sequence[StepRow]
    roofline: str
    off_chart: str
    series: str
    drawings: Sequence[Drawing]


HELPS = {
    "compute": "It gets faster with fewer or cheaper FLOPs: a faster dtype (bf16, fp8), shapes that fill the tensor cores, "
    "less padding and recomputation.",
    "bandwidth": "It gets faster with fewer bytes moved: quantised weights and KV cache, fused operators, larger batches that "
    "share each read of the weights.",
    "launch": "It gets faster with fewer, larger pieces of work: CUDA graphs, torch.compile, fused kernels, no synchronisation "
    "in the loop.",
    "communication": "It gets faster when communication overlaps with compute, or with fewer or larger messages.",
    "transfer": "It gets faster with fewer copies between host and device, pinned memory, and copies that overlap.",
    "stall": "It gets faster when the streams or ranks it waits for are found and evened out.",
    "capacity": "It needs less memory: a smaller batch or context, quantised weights or KV cache, or more devices.",
    "unknown": "",
}


def view_phases(analysis: Analysis, caps: Caps) -> list[PhaseView]:
    """The phases in the trace's order, at most `caps.phases`: those that take the most time."""
    heavy = sorted(analysis.phases, key=lambda phase: -(phase.wall_us or 0.0))
    kept, charted = heavy[: caps.phases], heavy[: caps.charted_phases]
    slugs = _slugs(analysis.phases)
    return [
        _view(phase, slugs[n], analysis, caps, charts=_among(phase, charted))
        for n, phase in enumerate(analysis.phases)
        if _among(phase, kept)
    ]


def _among(phase: Phase, phases: Sequence[Phase]) -> bool:
    return any(phase is other for other in phases)


def _slugs(phases: Sequence[Phase]) -> list[str]:
    """A stable, distinct anchor a phase: its id in lower case, what can't stand in one replaced."""
    slugs: list[str] = []
    for phase in phases:
        slug = re.sub(r"[^a-z0-9]+", "-", phase.id[:60].lower()).strip("-") or "phase"
        number, unique = 2, slug
        while unique in slugs:
            unique, number = f"{slug}-{number}", number + 1
        slugs.append(unique)
    return slugs


def _view(phase: Phase, slug: str, analysis: Analysis, caps: Caps, *, charts: bool) -> PhaseView:
    kernel_time = sum(row.time_us for row in phase.kernels)
    operator_time = sum(row.time_us for row in phase.operators)
    roofline, off_chart = (
        roofline_of(phase, slug, analysis.device, most=min(caps.points, caps.rows)) if charts else ("", "")
    )
    return PhaseView(
        phase=phase,
        slug=slug,
        name=inert(phase.id, 80),
        label=wording.label(phase),
        sentence=wording.headline(phase, analysis.device),
        margin=wording.margin(phase),
        workload=wording.workload(phase),
        helps="" if phase.contested else HELPS.get(phase.bound, ""),
        facts=_facts(phase, analysis),
        predicted=wording.predicted(phase),
        best=max((f for f in phase.findings if f.saving_us), key=lambda f: f.saving_us or 0.0, default=None),
        bar=_bar(phase),
        causes=_causes(phase),
        evidence=phase.evidence[: caps.sentences],
        findings=sorted(phase.findings, key=lambda finding: -(finding.saving_us or 0.0))[: caps.sentences],
        kernels=_cut(phase.kernels, caps.rows, lambda row: row.time_us, kernel_time),
        operators=_cut(phase.operators, caps.rows, lambda row: row.time_us, operator_time),
        parts=_parts(phase),
        steps=_cut(phase.steps, caps.steps, lambda row: row.wall_us, phase.wall_us or 0.0),
        outliers=outliers(phase.steps)[:5],
        roofline=roofline,
        off_chart=off_chart,
        series=series_of(phase, slug) if charts else "",
        drawings=[draw_timeline(t, most=caps.timeline_items) for t in phase.timelines] if charts else [],
    )


def _cut(rows: Sequence[T], most: int, time: Callable[[T], float], total: float) -> Rows:
    shown, rest = rows[:most], rows[most:]
    if not rest:
        return Rows(shown, "")
    part = units.percent(sum(time(row) for row in rest) / total) if total else units.UNKNOWN
    return Rows(shown, f"and {units.count(len(rest))} more, {part} of the time; --json and --parquet hold all")


def _facts(phase: Phase, analysis: Analysis) -> list[tuple[str, str]]:
    """The few numbers under a verdict, each with its name."""
    facts = []
    if phase.wall_us is not None:
        each = wording.step_wall_us(phase)
        facts.append(("time per step" if phase.n_steps > 1 else "time", units.duration(each)))
    if phase.achieved_tflops is not None and wording.rates_known(phase):
        facts.append(("compute rate", units.flop_rate(phase.achieved_tflops)))
    if phase.achieved_gb_s is not None and wording.rates_known(phase):
        bandwidth = analysis.device.bandwidth_gb_s
        part = f" ({units.percent(phase.achieved_gb_s / bandwidth)} of peak)" if bandwidth else ""
        facts.append(("memory rate", units.byte_rate(phase.achieved_gb_s) + part))
    if phase.busy_us is not None and phase.wall_us:
        facts.append(("device busy", units.percent(phase.busy_us / phase.wall_us)))
    if phase.cost_coverage is not None:
        facts.append(("time with known cost", units.percent(phase.cost_coverage)))
    return facts


def _bar(phase: Phase) -> list[tuple[str, float, float]]:
    if phase.shares is None:
        return []
    bar, at = [], 0.0
    for name in wording.SHARES:
        share = float(getattr(phase.shares, name))
        if share > 0:
            bar.append((name, at, share))
        at += share
    return bar


def _causes(phase: Phase) -> list[tuple[str, float, float]]:
    wall = phase.wall_us or 0.0
    ranked = sorted(phase.launch_causes.items(), key=lambda item: -item[1])
    return [(wording.cause_name(cause), us, us / wall) for cause, us in ranked if wall and us > 0][:12]


def _parts(phase: Phase) -> list[tuple[PartRow, PredictedPart | None]]:
    predicted = {} if phase.predicted is None else {part.part: part for part in phase.predicted.parts}
    return [(row, predicted.get(row.part)) for row in phase.parts[:40]]


def kernel_name(row: KernelRow) -> tuple[str, str]:
    """The short and the full name."""
    return short(row, 72), inert(row.name, 400)
