"""The prediction that stands beside a measured phase."""

from __future__ import annotations

from collections.abc import Sequence

from .analysis import Predicted, PredictedPart
from .device import Device
from .facts import ModelFacts
from .predict.parts import Workload
from .predict.step import PredictedStep, predict_step
from .step import Step


def predict_phase(facts: ModelFacts | None, device: Device, steps: Sequence[Step]) -> Predicted | None:
    """What the analytic model says of a phase, summed over its steps; None where model, device or tokens are unknown."""
    if facts is None:
        return None
    told = [predict_step(facts, device, work) for step in steps if (work := workload_of(step)) is not None]
    if len(told) < len(steps) or any(step is None for step in told):
        return None
    return _sum([step for step in told if step is not None])


def workload_of(step: Step) -> Workload | None:
    """The tokens of a measured step; None where its kind or lengths are unknown. The step of a draft model is not the
    model's own."""
    if step.draft or step.kind == "unknown" or not step.query_tokens:
        return None
    q, k = step.query_tokens, step.context_tokens
    if k is None:
        return None
    batch = step.batch or 1
    parts = [p for p in (step.prefill, step.decode) if p is not None]
    each, cached = q / batch, (k - q) / batch
    pairs = batch * (each * (cached + each) - each * (each - 1) / 2)
    if parts and all(p.qk is not None and (p.qq is not None) for p in parts):
        # Of a query token's q*k pairs a causal kernel skips those with later new tokens: (q^2 - q) / 2 a sequence.
        pairs = sum(float(p.qk or 0) - (float(p.qq or 0) - float(p.q or 0)) / 2 for p in parts)
    return Workload(batch=batch, query=q, context=k, pairs=pairs, lm_head_tokens=batch)


def _sum(steps: Sequence[PredictedStep]) -> Predicted | None:
    seconds = sum(step.seconds for step in steps)
    if not steps or not seconds:
        return None
    names = [t.part.name for t in steps[0].parts]
    parts = []
    for index, name in enumerate(names):
        timed = [step.parts[index] for step in steps]
        time = sum(t.seconds for t in timed)
        flops, moved = sum(t.part.flops for t in timed), sum(t.part.bytes for t in timed)
        compute = sum(t.seconds for t in timed if t.bound == "compute")
        parts.append(
            PredictedPart(
                part=name,
                bound="compute" if compute * 2 >= time else "bandwidth",
                time_us=time * 1e6,
                share=time / seconds,
                flops=flops,
                bytes=moved,
                intensity=flops / moved if moved else None,
            )
        )
    compute = sum(p.time_us for p in parts if p.bound == "compute") / 1e6
    flops, moved = sum(step.flops for step in steps), sum(step.bytes for step in steps)
    return Predicted(
        bound="compute" if compute * 2 >= seconds else "bandwidth",
        wall_us=seconds * 1e6,
        intensity=flops / moved if moved else None,
        flops=flops,
        bytes=moved,
        parts=tuple(parts),
    )
