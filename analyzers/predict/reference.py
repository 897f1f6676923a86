"""The textbook's step time: B KV / W + max(2 B N / C, P / W).

KV is the bytes of one sequence's cache, P the weights' bytes, N the parameters, C and W the FLOP/s and B/s of all chips
pooled. Assumptions: attention's FLOPs are not counted, reading the cache and the MLP do not overlap, no collectives.
Source: "How to Scale Your Model", chapter on inference (jax-ml.github.io/scaling-book).
"""

from __future__ import annotations

import msgspec


class ReferenceModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model by its numbers alone."""

    params: float
    weight_bytes: float
    """Of all weights."""
    kv_bytes_per_token: float


class ReferenceStep(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds of the two terms of one step, and what the weights' term is bound by."""

    kv_seconds: float
    mlp_flop_seconds: float
    mlp_byte_seconds: float

    @property
    def mlp_seconds(self) -> float:
        """The weights' term: the longer of its FLOPs and its bytes."""
        return max(self.mlp_flop_seconds, self.mlp_byte_seconds)

    @property
    def mlp_bound(self) -> str:
        """compute or bandwidth."""
        return "compute" if self.mlp_flop_seconds >= self.mlp_byte_seconds else "bandwidth"

    @property
    def seconds(self) -> float:
        """The step."""
        return self.kv_seconds + self.mlp_seconds

    @property
    def bound(self) -> str:
        """Of the step, by share of time: reading the cache is bandwidth."""
        compute = self.mlp_seconds if self.mlp_bound == "compute" else 0.0
        return "compute" if compute >= self.seconds - compute else "bandwidth"


def step_time(
    model: ReferenceModel, *, batch: int, tokens: int, context: int, flops_per_s: float, bytes_per_s: float
) -> ReferenceStep:
    """One step of `batch` sequences with `tokens` new tokens each and `context` cached ones."""
    return ReferenceStep(
        kv_seconds=batch * model.kv_bytes_per_token * context / bytes_per_s,
        mlp_flop_seconds=2 * batch * tokens * model.params / flops_per_s,
        mlp_byte_seconds=model.weight_bytes / bytes_per_s,
    )


def critical_batch(*, flops_per_s: float, bytes_per_s: float, bytes_per_weight: float) -> float:
    """Tokens from which a weight's 2 FLOPs each outlast its reading: C x bytes per weight / (2 W)."""
    return flops_per_s * bytes_per_weight / (2 * bytes_per_s)
