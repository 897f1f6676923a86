"""The class of each item: what it alone is bound by.

With time t, t_F = FLOPs / peak of the unit that runs them, t_B = bytes / bandwidth and t_0 the device's smallest kernel:
launch if t <= 2 t_0 and max(t_F, t_B) < t / 2 (it costs more to start than to run); else compute if t_F >= t_B, else
bandwidth. Without costs the kernel's name decides, a GEMM by the phase's token count; what can't be told is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .device import Device
from .work import KERNEL, MEMCPY, MEMSET, OP, Work

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

CLASSES = ("compute", "bandwidth", "launch", "communication", "transfer", "stall", "unknown")
COMPUTE, BANDWIDTH, LAUNCH, COMMUNICATION, TRANSFER, STALL, UNKNOWN = range(len(CLASSES))

STREAMING = frozenset(
    [
        "norm",
        "elementwise",
        "activation",
        "softmax",
        "reduction",
        "copy",
        "cat",
        "embedding",
        "index",
        "rope",
        "cache",
        "sampling",
        "quantize",
        "memset",
    ]
)
"""Families that do a few operations per element: below any device's ridge, whatever their shape."""
DENSE = frozenset(("gemm", "moe", "convolution"))

SLOWEST_MEMORY = {"cpu": 5e9, "gpu": 100e9}
"""B/s that any machine which runs language models reaches: one DDR3 channel, and the least of laptop GPUs."""

LOWEST_RIDGE, HIGHEST_RIDGE = 30.0, 700.0
"""FLOPs per byte between which the 16-bit ridges of all known devices lie (devices.json: 76 to 560, and CPUs near 30).
Outside of them a GEMM's side is told even on an unknown device."""


@dataclass(frozen=True, slots=True)
class Roof:
    """Per item, seconds: the time its FLOPs and its bytes need at the device's peaks. NaN where unknown."""

    t_flops: Floats
    t_bytes: Floats
    unit: tuple[str | None, ...]
    """Per call of the work: the dtype class its FLOPs are judged against."""

    @property
    def bound(self) -> Floats:
        """The roofline's lower bound on each item's time, seconds; NaN where neither is known."""
        return np.fmax(self.t_flops, self.t_bytes)


def roof_of(work: Work, device: Device, *, units: tuple[str | None, ...]) -> Roof:
    """The roofline times of each item. `units` gives the dtype class of each call's FLOPs."""
    peaks = np.array([device.peak_flops(unit) or np.nan for unit in units], float)
    peak = peaks[work.call] if len(units) else np.full(len(work), np.nan)
    peak = np.where(work.call >= 0, peak, np.nan)
    # Nothing to compute takes no time, whatever the peak.
    t_flops = np.where(work.flops == 0, 0.0, work.flops / peak)
    bandwidth = device.bandwidth or np.nan
    return Roof(t_flops, np.where(work.bytes == 0, 0.0, work.bytes / bandwidth), units)


def families_of(work: Work) -> npt.NDArray[np.object_]:
    """Per item: the family of its call's cost, else the one that its kernel's name tells. A copy and a set are their own."""
    named = np.array([name.family for name in work.names], object)
    family = named[work.name] if len(work) else np.empty(0, object)
    by_cost = np.array([c.family if c is not None else "" for c in work.costs] or [""], object)
    costed = np.where(work.call >= 0, by_cost[work.call], "")
    return np.where((costed != "") & (work.kind != MEMCPY) & (work.kind != MEMSET), costed, family)


def classify(work: Work, roof: Roof, device: Device, tokens: Floats, per_sequence: Floats) -> Ints:
    """Per item: its class, an index into `CLASSES`.

    `tokens` is the query-token count of the item's step and `per_sequence` that of one sequence (NaN where unknown):
    they decide for a GEMM or an attention kernel whose cost is unknown."""
    result = np.full(len(work), UNKNOWN)
    family = families_of(work)
    streaming = np.isin(family, list(STREAMING)) | (work.kind == MEMSET)
    result[streaming] = BANDWIDTH
    dense = np.isin(family, list(DENSE))
    result[dense] = _by_tokens(tokens, device, work)[dense]
    result[family == "attention"] = _by_tokens(per_sequence / 2, device, work)[family == "attention"]

    t = work.time * 1e-9
    both = ~np.isnan(roof.t_flops) & ~np.isnan(roof.t_bytes)
    result[both] = np.where(roof.t_flops[both] >= roof.t_bytes[both], COMPUTE, BANDWIDTH)
    nothing = both & (roof.bound == 0)
    result[nothing] = LAUNCH if len(work) and (work.kind == OP).all() else UNKNOWN

    floor = device.smallest_kernel_ns
    tiny = (work.time <= 2 * floor) & ~(roof.bound >= t / 2)
    # On a CPU an op's fixed cost differs several-fold from kind to kind, and other processes stretch it: what counts is
    # that the work would take less than a floor. Whatever held such an op up, it was not its work.
    tiny |= (work.kind == OP) & (roof.bound < np.minimum(floor * 1e-9, t / 2))
    result[(result == BANDWIDTH) & _not_streaming(work, device)] = UNKNOWN
    result[tiny] = LAUNCH
    result[family == "communication"] = COMMUNICATION
    result[(work.kind == MEMCPY) & ~_on_device(work)] = TRANSFER
    return result


def _not_streaming(work: Work, device: Device) -> npt.NDArray[np.bool_]:
    """Items of an unknown device whose bytes even the slowest memory would move in a tenth of their time."""
    if device.bandwidth is not None:
        return np.zeros(len(work), bool)
    slowest = SLOWEST_MEMORY["cpu" if device.kind == "cpu" else "gpu"]
    return (work.bytes > 0) & (work.bytes / slowest < work.time * 1e-9 / 10)


def _by_tokens(tokens: Floats, device: Device, work: Work) -> Ints:
    """A GEMM over n tokens does about 2n FLOPs per 16-bit weight: n FLOPs per byte, to hold against the ridge."""
    peak, bandwidth = (
        device.peak_flops("bf16") or device.peak_flops("fp16") or device.peak_flops("fp32"),
        device.bandwidth,
    )
    low, high = (LOWEST_RIDGE, HIGHEST_RIDGE)
    if peak and bandwidth:
        low = high = peak / bandwidth
    result = np.full(len(work), UNKNOWN)
    result[tokens >= high] = COMPUTE
    result[tokens < low] = BANDWIDTH
    return result


def _on_device(work: Work) -> npt.NDArray[np.bool_]:
    stays = np.array(["DtoD" in name or "Device -> Device" in name for name in work.full_names] or [False], bool)
    return stays[work.name] if len(work) else np.empty(0, bool)


__all__ = ["CLASSES", "KERNEL", "Roof", "classify", "roof_of"]
