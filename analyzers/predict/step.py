"""`predict_step`: how long one step must take on a device, part by part, and what binds it."""

from __future__ import annotations

import msgspec

from ..device import Device
from ..facts import ModelFacts
from .parts import Part, Workload, parts_of_step


class PartTime(msgspec.Struct, frozen=True, kw_only=True):
    """One operator with its roofline time."""

    part: Part
    bound: str
    """compute or bandwidth."""
    seconds: float


class PredictedStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step as the roofline sees it: every operator at its peak, one after another, and no launch cost."""

    parts: tuple[PartTime, ...]
    seconds: float
    bound: str
    flops: float
    bytes: float

    @property
    def intensity(self) -> float | None:
        """FLOPs per byte of the whole step."""
        return self.flops / self.bytes if self.bytes else None

    def shares(self) -> dict[str, float]:
        """Share of the time that is compute- and bandwidth-bound."""
        compute = sum(p.seconds for p in self.parts if p.bound == "compute")
        return {"compute": compute / self.seconds, "bandwidth": 1 - compute / self.seconds} if self.seconds else {}


def predict_step(
    facts: ModelFacts, device: Device, work: Workload, *, n_devices: int = 1, unit: str | None = None
) -> PredictedStep | None:
    """The roofline time of one step; None where the device's figures are unknown. `n_devices` pools peaks and bandwidths
    perfectly, without communication."""
    peak, bandwidth = device.peak_flops(unit or facts.unit), device.bandwidth
    if peak is None or bandwidth is None:
        return None
    timed = tuple(_time(part, peak * n_devices, bandwidth * n_devices) for part in parts_of_step(facts, work))
    seconds = sum(t.seconds for t in timed)
    compute = sum(t.seconds for t in timed if t.bound == "compute")
    return PredictedStep(
        parts=timed,
        seconds=seconds,
        bound="compute" if compute >= seconds - compute else "bandwidth",
        flops=sum(t.part.flops for t in timed),
        bytes=sum(t.part.bytes for t in timed),
    )


def _time(part: Part, peak: float, bandwidth: float) -> PartTime:
    t_flops, t_bytes = part.flops / peak, part.bytes / bandwidth
    return PartTime(part=part, bound="compute" if t_flops >= t_bytes else "bandwidth", seconds=max(t_flops, t_bytes))
