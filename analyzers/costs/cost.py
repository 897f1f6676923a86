"""`Cost`: what one call of an op has to compute and to move.

Conventions (docs/method.md): a multiply-add is 2 FLOPs; softmax is not counted; causal attention counts what a causal
kernel executes and keeps the uncut figure beside it; bytes are compulsory traffic: each distinct element read once,
each output element written once, at its stored width.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Family = Literal[
    "gemm",
    "attention",
    "moe",
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
    "scan",
    "convolution",
    "quantize",
    "communication",
    "memset",
    "memcpy",
    "fused",
    "other",
]
KnownBy = Literal["shapes", "span", "model", "name", "none"]
Unit = Literal["fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4", "int4"]


class Call(msgspec.Struct, frozen=True):
    """One distinct call: an op's name and recorded inputs. Shapes and strides in elements."""

    name: str
    dims: tuple[Any, ...] = ()
    types: tuple[str, ...] = ()
    strides: tuple[Any, ...] = ()
    concrete: tuple[str, ...] = ()
    extra: dict[str, Any] = {}


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """FLOPs and compulsory bytes of one call."""

    family: Family
    flops: float = 0.0
    bytes_read: float = 0.0
    bytes_written: float = 0.0
    unit: Unit | None = None
    """The dtype whose peak the FLOPs are judged against; None when no FLOPs are counted. fp32 GEMMs say "fp32";
    whether they ran as TF32 is decided where the trace's flag or the kernel's name is known."""
    flops_uncut: float | None = None
    """Attention only: FLOPs without the causal cut."""
    weight_bytes: float = 0.0
    """The part of `bytes_read` that is the second operand of a GEMM (a parameter, in a forward pass)."""
    known_by: KnownBy = "shapes"

    @property
    def bytes(self) -> float:
        """Compulsory traffic, read and written."""
        return self.bytes_read + self.bytes_written
