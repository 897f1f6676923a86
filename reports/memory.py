"""Memory and capacity: what the recording says is held, against what the device has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boundby.analyzers.analysis import Analysis


@dataclass(frozen=True)
class MemoryView:
    """Bytes, each None where it is not known."""

    total: float | None
    weights: float | None
    kv: float | None
    peak: float | None
    kv_per_token: float | None

    @property
    def parts(self) -> list[tuple[str, float, float]]:
        """(what, bytes, share of the device's memory) of what is known, and of what is left."""
        if not self.total:
            return []
        held = [(name, value) for name, value in (("weights", self.weights), ("KV cache", self.kv)) if value]
        rest = (self.peak or 0.0) - sum(value for _, value in held)
        if held and rest > 0:
            held.append(("activations and the rest", rest))
        return [(name, value, value / self.total) for name, value in held]

    @property
    def more_tokens(self) -> float | None:
        """Tokens of KV cache that fit beside everything held now; None where that can't be told."""
        held = self.peak or ((self.weights or 0.0) + (self.kv or 0.0))
        if not self.total or not self.kv_per_token or not held:
            return None
        return max(0.0, (self.total - held) // self.kv_per_token)


def memory_of(analysis: Analysis) -> MemoryView | None:
    """The recording's memory facts, or None when it has none."""
    facts = analysis.trace.metadata
    model, memory, device = (_section(facts, name) for name in ("model", "memory", "device"))
    total = None if analysis.device.memory_gb is None else analysis.device.memory_gb * 1e9
    view = MemoryView(
        total=total or _number(device, "memory_bytes"),
        weights=_number(memory, "weights_bytes") or _number(model, "parameter_bytes"),
        kv=_number(memory, "kv_bytes"),
        peak=_number(memory, "peak_bytes"),
        kv_per_token=_number(model, "kv_bytes_per_token"),
    )
    return view if view.weights or view.kv or view.peak or view.kv_per_token else None


def _section(facts: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = facts.get(name)
    return section if isinstance(section, dict) else {}


def _number(facts: Mapping[str, Any], name: str) -> float | None:
    value = facts.get(name)
    return float(value) if isinstance(value, (int, float)) and value > 0 else None
