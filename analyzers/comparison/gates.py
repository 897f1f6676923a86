"""Gates: `--fail-on "itl:5%,launches_per_step:0,bound"`. A gate passes, fails, or could not tell.

A gate is a name, alone or with a tolerance: a percentage (`5%`: of the value before) or an absolute amount (`0`, `1.5`).
Gates on cause compare counts and labels, which repeat exactly; gates on time need a change that is larger than the
tolerance, in the fastest steps too, and that a rank test and a bootstrap interval do not lay to chance, on the same
machine at the same workload.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from ..errors import UsageError
from .compare import Comparison, FigureChange, PhaseChange
from .significance import FEWEST_SAMPLES

Outcome = Literal["pass", "fail", "unknown", "improved"]

LABELS = ("bound", "contested")
SETS = ("new_kernels", "vanished_kernels", "phases")
COUNTS = [
    "kernels_per_step",
    "launches_per_step",
    "kernels_per_token",
    "launches_per_token",
    "syncs_per_step",
    "blocking_copies_per_step",
    "allocations_per_step",
    "flops_per_token",
    "bytes_per_token",
    "peak_bytes",
    "kv_bytes_per_token",
]
TIMES = {"itl": "decode", "ttft": "prefill", "wall": None}
"""Step-time gates, and the kind of phase each reads (None: every phase)."""
SHARES = ["share_compute", "share_bandwidth", "share_launch", "share_communication", "share_transfer", "share_stall"]
LOWER_IS_WORSE = ("efficiency", "cost_coverage", "graph_launches_per_step")
GATE_NAMES = (*LABELS, *SETS, *COUNTS, *TIMES, *SHARES, *LOWER_IS_WORSE)
DEFAULT_GATES = ",".join(
    (
        "bound",
        "launches_per_step:0",
        "kernels_per_step:0",
        "syncs_per_step:0",
        "flops_per_token:1%",
        "bytes_per_token:2%",
        "itl:10%",
        "ttft:10%",
    )
)


class Gate(msgspec.Struct, frozen=True):
    """A named condition. `tolerance` is a fraction when `relative`, else in the figure's own unit."""

    name: str
    tolerance: float = 0.0
    relative: bool = False

    def __str__(self) -> str:
        if self.name in LABELS or self.name in SETS:
            return self.name
        return f"{self.name}:{self.tolerance * 100:g}%" if self.relative else f"{self.name}:{self.tolerance:g}"


class GateResult(msgspec.Struct, frozen=True):
    """What one gate says of one phase. `message` is a sentence with the figures."""

    gate: str
    phase: str
    outcome: Outcome
    message: str


_GATE = re.compile(r"^(?P<name>[a-z_]+)(?::(?P<value>\d+(?:\.\d+)?)(?P<percent>%?))?$")


def parse_gates(text: str) -> tuple[Gate, ...]:
    """Read a comma-separated list of gates. Raises `UsageError` naming the gate at fault."""
    gates = []
    for word in (w.strip() for w in text.split(",")):
        if not word:
            continue
        found = _GATE.match(word)
        if found is None:
            raise UsageError(f"gate {word!r} is not NAME, NAME:AMOUNT or NAME:PERCENT%")
        name = found["name"]
        if name not in GATE_NAMES:
            raise UsageError(f"no gate is called {name!r}; there are {', '.join(GATE_NAMES)}")
        value = float(found["value"] or 0.0)
        relative = bool(found["percent"])
        if name in TIMES and found["value"] is not None and not relative:
            raise UsageError(f"gate {word!r}: a time gate takes a percentage, e.g. {name}:5%")
        gates.append(Gate(name, value / 100 if relative else value, relative or name in TIMES))
    if not gates:
        raise UsageError("no gates were given; e.g. --fail-on bound,launches_per_step:0,itl:5%")
    return tuple(gates)


def run_gates(comparison: Comparison, gates: tuple[Gate, ...]) -> tuple[GateResult, ...]:
    """Every gate against every phase it reads, in order."""
    results = []
    for gate in gates:
        if gate.name == "phases":
            results += _phases(gate, comparison)
            continue
        for change in comparison.phases:
            if change.before is None or change.after is None:
                continue
            result = _one(gate, change, comparison)
            if result is not None:
                results.append(result)
    missing = [c for c in comparison.phases if c.before is not None and c.after is None]
    results += [
        GateResult("phases", c.id, "unknown", f"phase {c.id} of the baseline is not in the new recording")
        for c in missing
    ]
    return tuple(results)


def _phases(gate: Gate, comparison: Comparison) -> list[GateResult]:
    new = [c for c in comparison.phases if c.before is None]
    return [GateResult(gate.name, c.id, "fail", f"phase {c.id} is new") for c in new]


def _one(gate: Gate, change: PhaseChange, comparison: Comparison) -> GateResult | None:
    if gate.name in LABELS:
        return _label(gate, change)
    if gate.name in SETS:
        return _kernel_set(gate, change)
    if gate.name in TIMES:
        return _time(gate, change, comparison)
    figure = next((f for f in change.figures if f.name == gate.name), None)
    return _figure(gate, change, figure)


def _label(gate: Gate, change: PhaseChange) -> GateResult:
    before, after = change.before, change.after
    assert before is not None
    assert after is not None
    if gate.name == "contested":
        worse = after.contested and not before.contested
        return _result(gate, change, "fail" if worse else "pass", f"contested: {before.contested} -> {after.contested}")
    words = f"bound: {before.bound} -> {after.bound}"
    if before.bound == after.bound:
        return _result(gate, change, "pass", words)
    if "unknown" in (before.bound, after.bound):
        return _result(gate, change, "unknown", f"{words}: one side cannot be told")
    if before.contested or after.contested:
        return _result(gate, change, "unknown", f"{words}, but a contested label may flip by noise")
    return _result(gate, change, "fail", words)


def _kernel_set(gate: Gate, change: PhaseChange) -> GateResult:
    new = gate.name == "new_kernels"
    found = [k for k in change.kernels if (k.before_calls == 0 if new else k.after_calls == 0)]
    if not found:
        return _result(gate, change, "pass", f"no {gate.name.replace('_', ' ')}")
    names = ", ".join(f"{k.name[:60]} ({(k.after_calls or k.before_calls):g} a step)" for k in found[:3])
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return _result(gate, change, "fail", f"{len(found)} {gate.name.replace('_', ' ')}: {names}{more}")


def _figure(gate: Gate, change: PhaseChange, figure: FigureChange | None) -> GateResult:
    if figure is None or figure.before is None or figure.after is None:
        return _result(gate, change, "unknown", f"{gate.name} is not known on both sides")
    sign = -1.0 if gate.name in LOWER_IS_WORSE else 1.0
    allowed = gate.tolerance * abs(figure.before) if gate.relative else gate.tolerance
    allowed += 1e-9 * max(abs(figure.before), abs(figure.after))
    worse = sign * (figure.after - figure.before)
    words = f"{gate.name}: {_number(figure.before)} -> {_number(figure.after)}"
    if figure.before:
        words += f" ({figure.after / figure.before - 1:+.1%})"
    outcome: Outcome = "fail" if worse > allowed else "improved" if -worse > allowed else "pass"
    return _result(gate, change, outcome, words)


def _number(value: float) -> str:
    """Six digits, and never an exponent for what is large."""
    return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:,.6g}"


def _time(gate: Gate, change: PhaseChange, comparison: Comparison) -> GateResult | None:
    before, after = change.before, change.after
    assert before is not None
    assert after is not None
    kind = TIMES[gate.name]
    if kind is not None and before.kind != kind:
        return None
    if not comparison.same_machine:
        facts = [k for k in comparison.environment if k.startswith(("device", "settings_threads"))]
        return _result(gate, change, "unknown", f"{gate.name}: recorded on different machines ({', '.join(facts)})")
    if comparison.other_work:
        return _result(
            gate, change, "unknown", f"{gate.name}: other work was timed ({', '.join(comparison.other_work)})"
        )
    if not change.like_with_like or change.time is None:
        return _result(gate, change, "unknown", f"{gate.name}: one side is timed with the profiler, the other without")
    moved = change.time
    n = (len(before.samples_us), len(after.samples_us))
    if moved.p is None:
        return _result(
            gate, change, "unknown", f"{gate.name}: {n[0]} and {n[1]} samples, {FEWEST_SAMPLES} are needed on each side"
        )
    words = (
        f"{gate.name}: x{moved.ratio:.3f} (99 % interval {moved.low:.3f} to {moved.high:.3f}, "
        f"p = {moved.p:.2g}, fastest tenth x{moved.fast:.3f}, {n[0]} and {n[1]} samples)"
    )
    if len(before.runs) > 1 or len(after.runs) > 1:
        words += f", run by run x{moved.least:.3f} to x{moved.most:.3f}"
    outcome: Outcome = (
        "fail" if moved.slower(gate.tolerance) else "improved" if moved.faster(gate.tolerance) else "pass"
    )
    return _result(gate, change, outcome, words)


def _result(gate: Gate, change: PhaseChange, outcome: Outcome, message: str) -> GateResult:
    return GateResult(str(gate), change.id, outcome, message)
