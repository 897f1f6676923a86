"""Verdicts as sentences. The terminal and the page say the same words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import units

if TYPE_CHECKING:
    from boundby.analyzers.analysis import DeviceInfo, Phase
from boundby.analyzers.trace import TraceWarning

SHARES = ("compute", "bandwidth", "launch", "communication", "transfer", "stall", "unknown")
"""Classes of time, in the order every table and bar shows them."""

SYMBOLS = {
    "compute": "▲",
    "bandwidth": "●",
    "launch": "■",
    "communication": "◆",
    "transfer": "▼",
    "stall": "✚",
    "capacity": "★",
    "unknown": "○",
}
"""One mark a class, so that no label hangs on colour alone."""

CAUSES = {
    "synchronize": "host waiting in a synchronisation",
    "blocking_copy": "blocking copies",
    "allocate": "memory allocation calls",
    "graph_launch": "graph launches",
    "compile": "kernel loading or compilation",
    "python_and_framework": "Python and framework between launches",
    "dispatch": "start latency of enqueued kernels",
    "tiny_kernels": "kernels too small to fill the device",
}

_DOES = {
    "compute": "does arithmetic",
    "bandwidth": "moves data through memory",
    "launch": "waits for work to be launched or started",
    "communication": "waits for other devices",
    "transfer": "copies data between host and device",
    "stall": "waits for an event or another stream",
}


_KINDS = {"mixed": "Mixed prefill and decode", "verify": "Verification", "unknown": "The unnamed phase"}

ENOUGH_COVERAGE = 0.8
"""With the cost of a smaller part of the busy time known, a phase's FLOPs and bytes are too incomplete to give a rate."""


def kind_name(phase: Phase) -> str:
    """The phase's kind as a sentence starts: "Decode"."""
    return _KINDS.get(phase.kind, phase.kind.capitalize())


def rates_known(phase: Phase) -> bool:
    """Whether the phase's FLOPs and bytes cover enough of its time for its rates to mean something."""
    return phase.cost_coverage is not None and phase.cost_coverage >= ENOUGH_COVERAGE


def warning(said: TraceWarning) -> str:
    """A warning's message, with its count where the message doesn't tell it."""
    told = str(said.count) in said.message or units.count(said.count) in said.message
    return said.message if said.count <= 1 or told else f"{said.message} ({units.count(said.count)} times)"


def label(phase: Phase) -> str:
    """The verdict in one word: "compute-bound", "contested", or "can't tell"."""
    if phase.bound == "unknown":
        return "can't tell"
    return "contested" if phase.contested else f"{phase.bound}-bound"


def cause_name(cause: str) -> str:
    """A cause of launch time in words."""
    return CAUSES.get(cause, cause.replace("_", " "))


def ranked(phase: Phase) -> list[tuple[str, float]]:
    """The phase's shares, largest first; empty when there is no time account."""
    if phase.shares is None:
        return []
    return sorted(((name, float(getattr(phase.shares, name))) for name in SHARES), key=lambda pair: -pair[1])


def step_wall_us(phase: Phase) -> float | None:
    """Mean wall time of one step."""
    return None if phase.wall_us is None else phase.wall_us / max(1, phase.n_steps)


def headline(phase: Phase, device: DeviceInfo) -> str:
    """The verdict as a sentence that a newcomer understands, with the numbers it rests on."""
    name = kind_name(phase)
    if phase.bound == "capacity":
        return f"{name} is capacity-bound: it needs more memory than the device has."
    shares = ranked(phase)
    if not shares:
        return f"{name}: can't tell what bounds it{_because(phase)}."
    if phase.bound == "unknown":
        missing = next(share for cls, share in shares if cls == "unknown")
        return f"{name}: can't tell what bounds it; {units.percent(missing)} of its time has no known cause."
    share = dict(shares).get(phase.bound)
    span = (
        f"each {units.duration(step_wall_us(phase))} step"
        if phase.n_steps > 1
        else f"its {units.duration(phase.wall_us)}"
    )
    first = f"{units.percent(share)} of {span} it {_does(phase, device)}{_rate(phase, device)}"
    if phase.contested:
        other, rival = next(pair for pair in shares if pair[0] != phase.bound)
        if other == "unknown":
            said = f"{units.percent(rival)} has no known cause, too much to call it"
            return f"{name} may be {phase.bound}-bound: {first}, but {said}."
        return f"{name} is contested between {phase.bound} and {other}: {first}, but {other} is too near to call it."
    return f"{name} is {phase.bound}-bound: {first}."


def _does(phase: Phase, device: DeviceInfo) -> str:
    if phase.bound == "bandwidth" and phase.kind == "decode":
        return "streams weights and KV cache from memory"
    if phase.bound == "launch" and device.kind == "cpu":
        return "spends between operators or starting small ones"
    return _DOES.get(phase.bound, f"is held by {phase.bound}")


def _rate(phase: Phase, device: DeviceInfo) -> str:
    """The achieved rate over the wall time, against the peak where that is known."""
    if phase.bound in {"compute", "bandwidth"} and not rates_known(phase):
        return _told_by_name(phase)
    if phase.bound == "compute" and phase.achieved_tflops is not None:
        peak = _of_peak(phase)
        return f", at {units.flop_rate(phase.achieved_tflops)} overall{peak}"
    if phase.bound == "bandwidth" and phase.achieved_gb_s is not None:
        if device.bandwidth_gb_s:
            part = units.percent(phase.achieved_gb_s / device.bandwidth_gb_s)
            return f", at {units.byte_rate(phase.achieved_gb_s)} overall, {part} of the memory's speed"
        return f", at {units.byte_rate(phase.achieved_gb_s)} overall"
    if phase.bound == "launch" and phase.wall_us and phase.busy_us is not None:
        return f"; the device is busy {units.percent(phase.busy_us / phase.wall_us)} of the time"
    return ""


def _told_by_name(phase: Phase) -> str:
    if phase.cost_coverage is None:
        return ""
    return f", as told by the kernels' names (the cost of only {units.percent(phase.cost_coverage)} of its busy time is known)"


def _of_peak(phase: Phase) -> str:
    return "" if phase.peak_fraction is None else f" ({units.percent(phase.peak_fraction)} of the roofline)"


def _because(phase: Phase) -> str:
    return f", because {phase.evidence[0].rstrip('.')}" if phase.evidence else ""


def margin(phase: Phase) -> str:
    """How sure the label is: "margin 0.31: bandwidth over launch"."""
    if phase.margin is None:
        return "no margin"
    shares = dict(ranked(phase))
    first = shares.pop(phase.bound, None)
    if first is None:
        return f"margin {phase.margin:.2f}"
    # The account leaves unattributed time out of the ranking while it is small: name the class the margin was taken to.
    second = min(shares, key=lambda name: abs(first - shares[name] - (phase.margin or 0.0)))
    return f"margin {phase.margin:.2f}: {phase.bound} over {second}"


def workload(phase: Phase) -> str:
    """What the phase ran: "8 steps, batch 32, 32 new and 40,960 context tokens a step"."""
    said = [f"{units.count(phase.n_steps)} step{'s' if phase.n_steps != 1 else ''}"]
    if phase.batch is not None:
        said.append(f"batch {units.count(phase.batch)}")
    if phase.query_tokens is not None:
        tokens = f"{units.count(phase.query_tokens)} new"
        if phase.context_tokens is not None:
            tokens += f" and {units.count(phase.context_tokens)} context"
        said.append(f"{tokens} tokens a step")
    return ", ".join(said)


def predicted(phase: Phase) -> str | None:
    """The analytic model's answer beside the measured one, or None without a prediction."""
    if phase.predicted is None:
        return None
    each = " a step" if phase.n_steps > 1 else ""
    time = units.duration(phase.predicted.wall_us / max(1, phase.n_steps))
    said = f"predicted {phase.predicted.bound}-bound in {time}{each}"
    wall = step_wall_us(phase)
    return said if wall is None else f"{said}; measured {units.duration(wall)}"


def best_finding(phase: Phase) -> str | None:
    """The one change with the largest estimated saving."""
    known = [finding for finding in phase.findings if finding.saving_us]
    if not known:
        return None
    best = max(known, key=lambda finding: finding.saving_us or 0.0)
    part = f" ({units.percent(best.saving_fraction)})" if best.saving_fraction is not None else ""
    return f"{best.title}: saves about {units.duration(best.saving_us)}{part}"
