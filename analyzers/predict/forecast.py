"""`Forecast`: what `boundby predict` says of one phase of one model on one device."""

from __future__ import annotations

import msgspec

from ..device import Device
from ..errors import UsageError
from ..facts import ModelFacts
from .memory import Memory, memory_of
from .parts import Workload
from .reference import ReferenceModel, critical_batch, step_time
from .step import PredictedStep, predict_step


class ForecastPart(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the model within the step."""

    part: str
    bound: str
    time_us: float
    share: float
    flops: float
    bytes: float
    intensity: float | None
    textbook_intensity: float | None = None
    """B·T for a linear layer over B sequences of T tokens; S·T/(S+T) for attention (no causal cut, no grouped heads)."""


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """The public JSON form of a prediction. Times are of one step."""

    phase: str
    batch: int
    context: int
    devices: int
    device: str
    unit: str
    wall_us: float
    bound: str
    """Of the whole step by share of time; "capacity" when it does not fit the memory."""
    time_bound: str
    """By share of time alone."""
    parts: tuple[ForecastPart, ...]
    reference_us: float
    """The textbook's step time: B KV / W + max(2 B N / C, P / W)."""
    critical_batch: float
    """Tokens a step from which a weight's FLOPs outlast its reading."""
    ridge: float
    memory_bytes: float
    weight_bytes: float
    kv_bytes: float
    kv_bytes_per_token: float
    capacity_bytes: float | None
    fits: bool | None
    max_batch: int | None
    max_context: int | None
    tokens_per_s: float
    ttft_us: float | None = None
    itl_us: float | None = None
    flops: float = 0.0
    bytes: float = 0.0
    intensity: float | None = None
    notes: tuple[str, ...] = ()


def _pooled(device: Device, devices: int, unit: str) -> tuple[float, float, float | None]:
    peak, bandwidth = device.peak_flops(unit), device.bandwidth
    if peak is None or bandwidth is None:
        have = ", ".join(device.peak_tflops) or "none"
        raise UsageError(
            f"device {device.id or device.name} has no {unit} peak or no bandwidth (it has {have}); name another --compute-dtype"
        )
    memory = None if device.memory_gb is None else device.memory_gb * 1e9 * devices
    return peak * devices, bandwidth * devices, memory


def forecast_numbers(
    *,
    params: float,
    weight_bytes: float,
    kv_bytes_per_token: float,
    unit: str,
    device: Device,
    devices: int,
    phase: str,
    batch: int,
    prompt: int,
    context: int,
) -> Forecast:
    """A model known by its numbers alone: the parts are `mlp` (all weights) and `kv` (reading the cache)."""
    flops_s, bytes_s, capacity = _pooled(device, devices, unit)
    tokens = 1 if phase == "decode" else prompt
    read = context if phase == "decode" else 0
    model = ReferenceModel(params=params, weight_bytes=weight_bytes, kv_bytes_per_token=kv_bytes_per_token)
    step = step_time(model, batch=batch, tokens=tokens, context=read, flops_per_s=flops_s, bytes_per_s=bytes_s)
    kv_read = batch * read * kv_bytes_per_token
    flops = 2 * batch * tokens * params
    seconds = step.seconds
    parts = [
        ForecastPart(
            part="mlp",
            bound=step.mlp_bound,
            time_us=step.mlp_seconds * 1e6,
            share=step.mlp_seconds / seconds,
            flops=flops,
            bytes=weight_bytes,
            intensity=flops / weight_bytes,
            textbook_intensity=float(batch * tokens),
        )
    ]
    if phase == "decode":
        parts.append(
            ForecastPart(
                part="kv",
                bound="bandwidth",
                time_us=step.kv_seconds * 1e6,
                share=step.kv_seconds / seconds,
                flops=0.0,
                bytes=kv_read,
                intensity=0.0 if kv_read else None,
                textbook_intensity=context / (context + 1.0),
            )
        )
    held = context if phase == "decode" else prompt
    memory = memory_of(
        weight_bytes=weight_bytes, kv_bytes_per_token=kv_bytes_per_token, batch=batch, context=held, capacity=capacity
    )
    return _forecast(
        phase=phase,
        batch=batch,
        context=held,
        device=device,
        devices=devices,
        unit=unit,
        seconds=seconds,
        bound=step.bound,
        parts=tuple(parts),
        reference=seconds,
        critical=critical_batch(flops_per_s=flops_s, bytes_per_s=bytes_s, bytes_per_weight=weight_bytes / params),
        ridge=flops_s / bytes_s,
        memory=memory,
        kv_bytes_per_token=kv_bytes_per_token,
        tokens=batch * tokens if phase == "prefill" else batch,
        flops=flops,
        moved=weight_bytes + kv_read,
    )


def forecast_facts(
    facts: ModelFacts,
    device: Device,
    *,
    devices: int = 1,
    phase: str = "decode",
    batch: int = 1,
    prompt: int = 512,
    context: int | None = None,
    unit: str | None = None,
) -> Forecast:
    """A model known by its config: every operator by its own roofline."""
    unit = unit or facts.unit
    flops_s, bytes_s, capacity = _pooled(device, devices, unit)
    held = (context or prompt) if phase == "decode" else prompt
    work = Workload.decode(batch, held) if phase == "decode" else Workload.prefill(batch, prompt)
    step = predict_step(facts, device, work, n_devices=devices, unit=unit)
    assert step is not None
    model = ReferenceModel(
        params=facts.active_parameters, weight_bytes=facts.weight_bytes, kv_bytes_per_token=facts.kv_bytes_per_token
    )
    tokens = 1 if phase == "decode" else prompt
    reference = step_time(
        model,
        batch=batch,
        tokens=tokens,
        context=held if phase == "decode" else 0,
        flops_per_s=flops_s,
        bytes_per_s=bytes_s,
    )
    memory = memory_of(
        weight_bytes=facts.weight_bytes,
        kv_bytes_per_token=facts.kv_bytes_per_token,
        batch=batch,
        context=held,
        capacity=capacity,
    )
    return _forecast(
        phase=phase,
        batch=batch,
        context=held,
        device=device,
        devices=devices,
        unit=unit,
        seconds=step.seconds,
        bound=step.bound,
        parts=_parts(step, batch, tokens, held),
        reference=reference.seconds,
        critical=critical_batch(flops_per_s=flops_s, bytes_per_s=bytes_s, bytes_per_weight=facts.weight_bytes_each),
        ridge=flops_s / bytes_s,
        memory=memory,
        kv_bytes_per_token=facts.kv_bytes_per_token,
        tokens=batch * tokens,
        flops=step.flops,
        moved=step.bytes,
    )


def _parts(step: PredictedStep, batch: int, tokens: int, context: int) -> tuple[ForecastPart, ...]:
    linear = ("qkv_proj", "o_proj", "gate_up_proj", "up_proj", "down_proj", "shared_expert")
    found = []
    for timed in step.parts:
        part = timed.part
        textbook = None
        if part.name in linear:
            textbook = float(batch * tokens)
        elif part.name == "attention":
            textbook = context * tokens / (context + tokens)
        found.append(
            ForecastPart(
                part=part.name,
                bound=timed.bound,
                time_us=timed.seconds * 1e6,
                share=timed.seconds / step.seconds,
                flops=part.flops,
                bytes=part.bytes,
                intensity=part.flops / part.bytes if part.bytes else None,
                textbook_intensity=textbook,
            )
        )
    return tuple(found)


def _forecast(
    *,
    phase: str,
    batch: int,
    context: int,
    device: Device,
    devices: int,
    unit: str,
    seconds: float,
    bound: str,
    parts: tuple[ForecastPart, ...],
    reference: float,
    critical: float,
    ridge: float,
    memory: Memory,
    kv_bytes_per_token: float,
    tokens: int,
    flops: float,
    moved: float,
) -> Forecast:
    notes = []
    if memory.capacity and memory.fits and memory.total > 0.9 * memory.capacity:
        notes.append(f"memory is {memory.total / memory.capacity:.0%} full: little is left for activations")
    if memory.fits is False and memory.capacity:
        notes.append(f"needs {memory.total / 1e9:,.4g} GB and {memory.capacity / 1e9:,.4g} GB are there")
    return Forecast(
        phase=phase,
        batch=batch,
        context=context,
        devices=devices,
        device=device.id or device.name,
        unit=unit,
        wall_us=seconds * 1e6,
        bound="capacity" if memory.fits is False else bound,
        time_bound=bound,
        parts=parts,
        reference_us=reference * 1e6,
        critical_batch=critical,
        ridge=ridge,
        memory_bytes=memory.total,
        weight_bytes=memory.weights,
        kv_bytes=memory.kv,
        kv_bytes_per_token=kv_bytes_per_token,
        capacity_bytes=memory.capacity,
        fits=memory.fits,
        max_batch=memory.max_batch,
        max_context=memory.max_context,
        tokens_per_s=tokens / seconds if seconds else 0.0,
        ttft_us=seconds * 1e6 if phase == "prefill" else None,
        itl_us=seconds * 1e6 if phase == "decode" else None,
        flops=flops,
        bytes=moved,
        intensity=flops / moved if moved else None,
        notes=tuple(notes),
    )
