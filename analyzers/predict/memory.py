"""What fits: weights, cache and activations against the devices' memory."""

from __future__ import annotations

import msgspec


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes in use for a batch and context, and the largest that fit."""

    weights: float
    kv: float
    total: float
    capacity: float | None
    fits: bool | None
    """None when the device's memory is unknown."""
    max_batch: int | None
    """At this context."""
    max_context: int | None
    """At this batch."""


def memory_of(
    *, weight_bytes: float, kv_bytes_per_token: float, batch: int, context: int, capacity: float | None
) -> Memory:
    """Weights plus cache. Activations of a decode step are left out: they are reused and small beside both."""
    kv = batch * context * kv_bytes_per_token
    total = weight_bytes + kv
    if capacity is None:
        return Memory(
            weights=weight_bytes, kv=kv, total=total, capacity=None, fits=None, max_batch=None, max_context=None
        )
    room = capacity - weight_bytes
    per_sequence, per_position = context * kv_bytes_per_token, batch * kv_bytes_per_token
    return Memory(
        weights=weight_bytes,
        kv=kv,
        total=total,
        capacity=capacity,
        fits=total <= capacity,
        max_batch=max(int(room // per_sequence), 0) if per_sequence else None,
        max_context=max(int(room // per_position), 0) if per_position else None,
    )
