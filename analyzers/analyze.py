"""`analyze`: from a trace to the whole answer. Reads top to bottom like the method page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from boundby.tracer.marks import METADATA_KEY, Recording, StepMark, Untraced
from boundby.tracer.version import VERSION

from .account import Pieces, cut_windows
from .analysis import SCHEMA_VERSION, Analysis, DeviceInfo, Phase, ToolInfo, TraceInfo
from .capacity import capacity_evidence
from .classes import classify, roof_of
from .conventions import CONVENTIONS
from .correlate import ENQUEUES, Linked, correlate
from .device import Device
from .device_table import resolve_device
from .engines import find_steps
from .facts import ModelFacts, facts_for
from .findings import findings_of
from .graph_costs import Reference, explain_kernels, read_references
from .host_account import assign_ops, cut_spans
from .host_calls import host_calls
from .idle import Idle, explain_gaps
from .metadata import public_metadata
from .phase import build_phase
from .phase_input import PhaseInput
from .phases import PhaseGroup, group_phases
from .predicted import predict_phase
from .reading import read_trace
from .rows import Items
from .step import StepsFound
from .time_account import TimeAccount, account_phase
from .timeline import timelines_of
from .trace import Trace, TraceWarning
from .units import units_of_calls
from .whereabouts import known_by, parts_of
from .window import Windows, assign_steps, idle_queue_delay, windows_of
from .work import Work, device_work, host_work, own_times

Ints = npt.NDArray[np.int64]


def analyze(
    source: Any,
    *,
    device: str | None = None,
    model: str | None = None,
    capture: str | None = None,
    mapping: str | None = None,
    frames: bool = False,
    timelines: bool = False,
) -> Analysis:
    """Read a trace and say what each of its phases is bound by.

    `source` is what `read_trace` takes: a path, a URL, a file object, bytes, or a finished `torch.profiler` object.
    `device` names the device (or a JSON file of its peaks) where the trace does not or is wrong; `model` is a Hugging Face
    config.json or its folder; `capture` (a trace of the capture of its graphs, or a folder of them) and `mapping` (an eager
    trace of the same model) tell the costs of kernels inside of graphs; `frames` reads Python stacks too; `timelines`
    adds each phase's typical and slowest step.

    Raises `BoundbyError`s: unreadable or empty input, unknown device or model."""
    references = (
        *read_references([capture] if capture else [], capture=True),
        *read_references([mapping] if mapping else [], capture=False),
    )
    trace = read_trace(source, frames=frames)
    return analyze_trace(trace, device=device, model=model, references=references, timelines=timelines)


def analyze_trace(
    trace: Trace,
    *,
    device: str | None = None,
    model: str | None = None,
    references: Sequence[Reference] = (),
    timelines: bool = False,
) -> Analysis:
    """The answer about a trace already read. See `analyze`."""
    recording = recording_of(trace)
    facts = facts_for(recording, model)
    linked = correlate(trace)
    dev, remarks = resolve_device(trace.header, override=device, kernels=trace.kernels)
    found = find_steps(linked)
    account = _account(linked, found, dev, facts, recording, references)
    phases = tuple(
        _phase(group, linked, found, account, dev, facts, recording, timelines=timelines)
        for group in group_phases(found.steps)
    )
    return Analysis(
        schema_version=SCHEMA_VERSION,
        tool=ToolInfo("boundby", VERSION),
        trace=TraceInfo(
            path=trace.path,
            events=trace.n_events,
            kernels=trace.kernels.height,
            warnings=(*linked.trace.warnings, *remarks),
            metadata=public_metadata(trace.header, recording),
        ),
        device=_device_info(dev),
        phases=phases,
        conventions=CONVENTIONS,
    )


def recording_of(trace: Trace) -> Recording | None:
    """What our own recorder wrote into the trace, or None. A record of another shape counts as none."""
    raw = trace.header.metadata.get(METADATA_KEY)
    if raw is None:
        return None
    try:
        return (
            msgspec.json.decode(raw, type=Recording)
            if isinstance(raw, (str, bytes))
            else msgspec.convert(raw, Recording)
        )
    except (msgspec.ValidationError, msgspec.DecodeError):
        return None


@dataclass(frozen=True, slots=True)
class Account:
    """Every item of the trace judged, every window cut, every gap explained."""

    items: Items
    windows: Windows
    pieces: Pieces
    idle: Idle
    on_host: bool
    missing: str
    notes: tuple[str, ...]
    """How costs that no op tells became known."""


def runs_on_host(trace: Trace) -> bool:
    """A CPU trace: ops, no device event, and no call that should have made one."""
    enqueues = trace.launches["name"].str.contains(ENQUEUES).any() if trace.launches.height else False
    return trace.ops.height > 0 and trace.kernels.height == 0 and not enqueues


def _account(
    linked: Linked,
    found: StepsFound,
    device: Device,
    facts: ModelFacts | None,
    recording: Recording | None,
    references: Sequence[Reference],
) -> Account:
    trace, steps = linked.trace, found.steps
    on_host = runs_on_host(trace)
    notes: tuple[str, ...] = ()
    if on_host:
        work = host_work(linked, own_ns=own_times(linked))
        owner, windows = assign_ops(work, linked, steps)
    else:
        work = device_work(linked)
        owner = assign_steps(work, linked, steps)
        explained = explain_kernels(work, linked, owner, steps, facts, device, references=references)
        work, facts, notes = explained.work, explained.facts, explained.notes
        latency = idle_queue_delay(work, linked)
        windows = windows_of(work, linked, steps, owner, idle_ns=latency)
    units = units_of_calls(work, recording)
    roof = roof_of(work, device, units=units)
    classes = classify(work, roof, device, *_tokens(found, owner))
    if on_host:
        pieces, idle = cut_spans(work, owner, windows)
    else:
        pieces = cut_windows(work, classes, windows, owner, steps)
        idle = explain_gaps(work, linked, pieces.gaps, latency_ns=latency)
    gap_before = np.zeros(len(work), np.int64)
    np.add.at(gap_before, pieces.gaps.item, pieces.gaps.end - pieces.gaps.start)
    parts, part_of = parts_of(work, linked, facts)
    ways, known_of = known_by(work)
    items = Items(work, roof, classes, owner, parts, part_of, ways, known_of, gap_before)
    return Account(items, windows, pieces, idle, on_host, _missing(trace), notes)


def _missing(trace: Trace) -> str:
    if trace.kernels.height == 0 and trace.launches.height:
        return "GPU activity missing: the trace holds launches and no kernel; record again with the device activity on"
    if trace.kernels.height == 0 and trace.ops.height == 0:
        return "no data: the trace holds neither kernels nor ops"
    return "none of the recorded work belongs to this phase"


def _tokens(found: StepsFound, owner: Ints) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Per item: the query tokens of its step, and those of one of its sequences; NaN where unknown."""
    query = np.array([np.nan if s.query_tokens is None else s.query_tokens for s in found.steps] + [np.nan], float)
    batch = np.array([np.nan if not s.batch else s.batch for s in found.steps] + [np.nan], float)
    return query[owner], (query / batch)[owner]


def _phase(
    group: PhaseGroup,
    linked: Linked,
    found: StepsFound,
    account: Account,
    device: Device,
    facts: ModelFacts | None,
    recording: Recording | None,
    *,
    timelines: bool,
) -> Phase:
    steps = [found.steps[n] for n in group.numbers]
    edges = frozenset[int]() if account.on_host or recording is not None else _edges(account.windows)
    untraced = [_untraced(step.label, recording) for step in steps]
    times = account_phase(
        group.numbers,
        account.windows,
        account.pieces,
        account.idle,
        account.items.work,
        account.items.classes,
        untraced_ns=[None if u is None else u.median_us * 1e3 for u in untraced],
        edges=edges,
    )
    mine = np.isin(account.items.owner, group.numbers)
    launch = account.items.work.launch[mine]
    given = PhaseInput(
        id=group.id,
        engine=found.engine,
        steps=steps,
        numbers=group.numbers,
        account=times,
        items=account.items,
        windows=account.windows,
        edges=edges,
        n_launches=len(np.unique(launch[launch >= 0])),
        device=device,
        untraced_us=tuple(t for u in {id(u): u for u in untraced if u is not None}.values() for t in u.samples_us),
        host_calls=host_calls(linked, steps),
        predicted=predict_phase(facts, device, steps),
        capacity=capacity_evidence(linked, steps, device, recording),
        notes=(*found.notes, *account.notes),
        missing=account.missing,
    )
    phase = build_phase(given)
    drawn = (
        timelines_of(list(group.numbers), account.items, account.windows, account.pieces, account.idle, linked)
        if timelines
        else ()
    )
    return msgspec.structs.replace(phase, findings=findings_of(phase, given, linked, facts, recording), timelines=drawn)


def _edges(windows: Windows) -> frozenset[int]:
    present = np.flatnonzero(~windows.empty)
    if not len(present):
        return frozenset()
    order = present[np.argsort(windows.open_ns[present])]
    return frozenset((int(order[0]), int(order[-1])))


def _untraced(label: str, recording: Recording | None) -> Untraced | None:
    """The untraced times of the steps that our recorder marked with this label's kind and shape."""
    mark = StepMark.parse(label)
    if mark is None or recording is None:
        return None
    shape = (mark.kind, mark.batch, mark.query)
    return next((u for u in recording.untraced if (u.kind, u.batch, u.query) == shape), None)


def _device_info(device: Device) -> DeviceInfo:
    return DeviceInfo(
        name=device.name,
        kind=device.kind,
        peak_tflops=device.peak_tflops,
        bandwidth_gb_s=device.bandwidth_gb_s,
        memory_gb=device.memory_gb,
        source=device.source,
    )


__all__ = ["Account", "TimeAccount", "TraceWarning", "Work", "analyze", "analyze_trace", "recording_of"]
