"""`Baseline`: what is kept of an analysis to compare later ones with. A JSON file that people commit beside their tests."""

from __future__ import annotations

from typing import Any

import msgspec

from ..analysis import Analysis, Phase
from ..errors import UnreadableTraceError

BASELINE_SCHEMA = "boundby-baseline/1"

Environment = dict[str, Any]
_MODEL = ("name", "class", "parameters", "parameter_bytes")
_FIGURES_PER_TOKEN = ("flops", "bytes")


class BaselinePhase(msgspec.Struct, frozen=True, kw_only=True):
    """One phase's figures, per step or per new token as named, with the samples that a test needs."""

    id: str
    kind: str
    bound: str
    margin: float | None
    contested: bool
    figures: dict[str, float]
    """See `figures_of`."""
    samples_us: list[float]
    """Step times: untraced where the recording has them, else as traced."""
    untraced: bool
    kernels: dict[str, float]
    """Calls per step of each kernel (or op), by full name."""
    kernel_time_us: dict[str, float]
    """Microseconds per step of each kernel (or op)."""
    run_lengths: list[int] = []
    """How many of the samples are of each recording, in order; empty for one recording."""

    @property
    def runs(self) -> list[list[float]]:
        """The samples, recording by recording."""
        found, start = [], 0
        for length in self.run_lengths or [len(self.samples_us)]:
            found.append(self.samples_us[start : start + length])
            start += length
        return found


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """An analysis, reduced to what a comparison needs."""

    schema: str
    tool_version: str
    source: str
    environment: Environment
    calibration: dict[str, Any]
    phases: list[BaselinePhase]

    @classmethod
    def of(cls, analysis: Analysis) -> Baseline:
        """Reduce an analysis."""
        meta = analysis.trace.metadata
        return cls(
            schema=BASELINE_SCHEMA,
            tool_version=analysis.tool.version,
            source=analysis.trace.path,
            environment=environment_of(analysis),
            calibration=dict(meta.get("calibration", {})),
            phases=[_reduce(phase, meta) for phase in analysis.phases],
        )

    def to_json(self) -> bytes:
        """The file's content: JSON, indented, so that a change shows in a diff."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"

    @classmethod
    def from_json(cls, data: bytes, *, path: str) -> Baseline:
        """Read a baseline file, or an analysis in its JSON form. Raises `UnreadableTraceError` on anything else."""
        try:
            if b'"' + BASELINE_SCHEMA.encode() + b'"' in data[:4096]:
                return msgspec.json.decode(data, type=cls)
            return cls.of(Analysis.from_json(data))
        except msgspec.DecodeError as error:
            raise UnreadableTraceError(
                f"{path} is neither a baseline nor an analysis ({error}); "
                "make one with `boundby check TRACE --save-baseline FILE`"
            ) from None


def environment_of(analysis: Analysis) -> Environment:
    """What must be equal for times to be comparable: device, software, model, workload and settings."""
    meta = analysis.trace.metadata
    model = meta.get("model", {})
    found: Environment = {"device": analysis.device.name, "device_kind": analysis.device.kind}
    found |= {f"model_{key}": model[key] for key in _MODEL if key in model}
    for part in ("workload", "settings", "versions"):
        found |= {f"{part}_{key}": value for key, value in meta.get(part, {}).items() if key != "command"}
    found |= {f"device_{key}": value for key, value in meta.get("device", {}).items() if key in ("driver",)}
    return found


def figures_of(phase: Phase, meta: dict[str, Any]) -> dict[str, float]:
    """A phase's figures by gate name; one that is unknown is absent.

    Per step: kernels_per_step, launches_per_step, syncs_per_step (synchronising calls and scalar reads; the microseconds
    of launch time laid to them are sync_us_per_step), blocking_copies_per_step, allocations_per_step,
    graph_launches_per_step, wall_us, busy_us, launch_us. Per new token: flops_per_token, bytes_per_token,
    kernels_per_token, launches_per_token. Shares as share_compute and so on; efficiency, cost_coverage; peak_bytes and
    kv_bytes_per_token from the recording."""
    steps = max(phase.n_steps, 1)
    found: dict[str, float | None] = {
        "kernels_per_step": phase.n_kernels / steps,
        "launches_per_step": phase.n_launches / steps,
        "wall_us": None if phase.wall_us is None else phase.wall_us / steps,
        "busy_us": None if phase.busy_us is None else phase.busy_us / steps,
        "efficiency": phase.peak_fraction,
        "cost_coverage": phase.cost_coverage,
        "peak_bytes": meta.get("memory", {}).get("peak_bytes"),
        "kv_bytes_per_token": meta.get("model", {}).get("kv_bytes_per_token"),
    }
    if phase.query_tokens:
        tokens = phase.query_tokens * steps
        found |= {f"{name}_per_token": _over(getattr(phase, name), tokens) for name in _FIGURES_PER_TOKEN}
        found |= {"kernels_per_token": phase.n_kernels / tokens, "launches_per_token": phase.n_launches / tokens}
    if phase.shares is not None:
        found |= {f"share_{name}": getattr(phase.shares, name) for name in phase.shares.__struct_fields__}
    if phase.wall_us is not None:
        found["launch_us"] = sum(phase.launch_causes.values()) / steps
        found["sync_us_per_step"] = phase.launch_causes.get("synchronize", 0.0) / steps
    if phase.host_calls:
        calls = phase.host_calls
        found["syncs_per_step"] = (calls.get("synchronize", 0) + calls.get("scalar_reads", 0)) / steps
        found["blocking_copies_per_step"] = calls.get("blocking_copy", 0) / steps
        found["allocations_per_step"] = calls.get("allocate", 0) / steps
        found["graph_launches_per_step"] = calls.get("graph_launch", 0) / steps
    return {name: float(value) for name, value in found.items() if value is not None}


def _over(value: float | None, tokens: int) -> float | None:
    return None if value is None else value / tokens


def _reduce(phase: Phase, meta: dict[str, Any]) -> BaselinePhase:
    steps = max(phase.n_steps, 1)
    untraced = bool(phase.untraced_samples_us)
    return BaselinePhase(
        id=phase.id,
        kind=phase.kind,
        bound=phase.bound,
        margin=phase.margin,
        contested=phase.contested,
        figures=figures_of(phase, meta),
        samples_us=list(phase.untraced_samples_us) if untraced else [step.wall_us for step in phase.steps],
        untraced=untraced,
        kernels={row.name: row.count / steps for row in phase.kernels},
        kernel_time_us={row.name: row.time_us / steps for row in phase.kernels},
    )
