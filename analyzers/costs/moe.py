"""Mixture of experts: fused layers and grouped products.

T tokens, each through k of E experts: FLOPs 2 T k times the weights of one expert; bytes: the activations in and out,
and the weights of the experts that are touched. Which are is data that no trace holds, so the expected number under
even routing is taken: E (1 - (1 - k / E)^T). Skewed routing touches fewer. Routing tables are read; intermediates
inside a fused op don't count.
"""

from __future__ import annotations

import math

from .arguments import Arguments, Tensor, require
from .cost import Cost
from .dtypes import Dtype
from .gemm import wider_unit
from .registry import formula


def touched(experts: int, per_token: float, tokens: float) -> float:
    """Expected number of distinct experts that so many tokens reach, each choosing `per_token` of them evenly."""
    if experts <= 0:
        return 0.0
    share = min(per_token / experts, 1.0)
    return experts * (1.0 - float((1.0 - share) ** tokens))


def fused_layer(x: Tensor, w1: Tensor, w2: Tensor, *, top_k: int, scales: float = 0.0, routing: float = 0.0) -> Cost:
    """A whole layer: x[T, K], w1[E, N1, K] (N1 = 2 I where gated), w2[E, K, I]. Packed weights keep K and I from x and
    from w1's rows: w1[E, N1, K / p], w2[E, K, I / p]. `scales`: bytes of all experts' scales."""
    require(len(w1.shape) == 3 and len(w2.shape) == 3 and w1.shape[0] == w2.shape[0] and top_k > 0)
    tokens, k = x.numel // x.shape[-1], x.shape[-1]
    pack = k // w1.shape[2] if w1.shape[2] else 0
    require(pack >= 1 and pack * w1.shape[2] == k and w2.shape[1] == k)
    inner = w2.shape[2] * pack
    require(w1.shape[1] in (inner, 2 * inner))
    experts = w1.shape[0]
    share = touched(experts, top_k, tokens) / experts
    weights = share * (w1.bytes + w2.bytes + scales)
    return Cost(
        family="moe",
        flops=2.0 * tokens * top_k * k * (w1.shape[1] + inner),
        bytes_read=x.bytes + weights + routing,
        bytes_written=x.written,
        unit=wider_unit(x, w1) if pack == 1 else x.unit,
        weight_bytes=weights,
    )


def _layer(a: Arguments, first_scale: int | None) -> Cost:
    """Ops that take (x, w1, w2, routing weights[T, k], expert ids[T, k], ...); the scales are the matrices of as many
    experts further on."""
    x, w1, w2, ids = a.tensor(0), a.tensor(1, rank=3), a.tensor(2, rank=3), a.tensor(4, rank=2)
    scales = 0.0
    for i in range(first_scale or 5, len(a)):
        t = a.maybe(i)
        if t is not None and len(t.shape) >= 2 and t.shape[0] == w1.shape[0]:
            scales += t.bytes
    routing = a.tensor(3).bytes + ids.bytes
    return fused_layer(x, w1, w2, top_k=ids.shape[1], scales=scales, routing=routing)


@formula(
    "vllm::outplace_fused_experts",
    "vllm::inplace_fused_experts",
    "sglang::outplace_fused_experts",
    "sglang::inplace_fused_experts",
    "aiter::fused_moe_",
    "vllm::rocm_aiter_fused_moe",
)
def fused_experts(a: Arguments) -> Cost:
    """fused experts(x[T, K], w1[E, N1, K], w2[E, K, I], weights[T, k], ids[T, k], ..., scales)."""
    return _layer(a, None)


def grouped(x: Tensor, w: Tensor, n: int, k: int, out: Dtype, *, also: float = 0.0, unit: Tensor | None = None) -> Cost:
    """Rows of x, sorted by expert, through one matrix of their expert: x[R, K], w[E, ...] of N K values each. A row is
    one choice of a token, so R rows reach at most R experts."""
    rows = x.numel // x.shape[-1]
    experts = w.shape[0]
    share = touched(experts, 1.0, rows) / experts if experts else 0.0
    return Cost(
        family="moe",
        flops=2.0 * rows * n * k,
        bytes_read=x.bytes + share * w.bytes + also,
        bytes_written=rows * n * out.bytes,
        unit=wider_unit(x, w) if unit is None else unit.unit,
        weight_bytes=share * w.bytes,
    )


_BF16 = Dtype(2, "bf16", floating=True)


@formula("aten::_grouped_mm", "aten::_scaled_grouped_mm")
def grouped_mm(a: Arguments) -> Cost:
    """_grouped_mm(x[R, K], w[E, K, N], offsets?, ...), _scaled_grouped_mm(x, w, scale x, scale w, ...). Two 3-d operands
    are a plain batched product."""
    x, w = a.tensor(0), a.tensor(1, rank=3)
    scaled = a.name == "aten::_scaled_grouped_mm"
    also = sum(t.bytes for t in (a.maybe(i) for i in ((2, 3) if scaled else (2,))) if t is not None)
    require(x.shape[-1] == w.shape[1])
    out = _BF16 if scaled else x.dtype
    if len(x.shape) == 3:
        require(x.shape[0] == w.shape[0])
        flops = 2.0 * math.prod(x.shape) * w.shape[2]
        written = x.numel / x.shape[-1] * w.shape[2] * out.bytes
        return Cost(
            family="moe",
            flops=flops,
            bytes_read=x.bytes + w.bytes + also,
            bytes_written=written,
            unit=wider_unit(x, w),
            weight_bytes=w.bytes,
        )
    return grouped(x, w, w.shape[2], w.shape[1], out, also=also)


@formula("_C::cutlass_moe_mm")
def cutlass_moe_mm(a: Arguments) -> Cost:
    """cutlass_moe_mm(out[R, N], x[R, K], w[E, K, N], scales x, scales w, offsets, ...)."""
    out, x, w = a.tensor(0, rank=2), a.tensor(1, rank=2), a.tensor(2, rank=3)
    return grouped(x, w, out.shape[1], x.shape[1], out.dtype, also=a.tensor(3).bytes + a.tensor(4).bytes)


@formula("sgl_kernel::fp8_blockwise_scaled_grouped_mm")
def sgl_grouped(a: Arguments) -> Cost:
    """(out[R, N], five pointer arrays, x[R, K], w[E, ...], scales x, scales w, ...)."""
    out, x, w = a.tensor(0, rank=2), a.tensor(6, rank=2), a.tensor(7, rank=3)
    return grouped(x, w, out.shape[1], x.shape[1], out.dtype, also=a.tensor(8).bytes + a.tensor(9).bytes)


@formula("sgl_kernel::es_fp8_blockwise_scaled_grouped_mm")
def es_grouped(a: Arguments) -> Cost:
    """(out[R, N], x[R, K], w[E, ...], scales x, scales w, ...)."""
    out, x, w = a.tensor(0, rank=2), a.tensor(1, rank=2), a.tensor(2, rank=3)
    return grouped(x, w, out.shape[1], x.shape[1], out.dtype, also=a.tensor(3).bytes + a.tensor(4).bytes)


@formula("sgl_kernel::cutlass_fp4_group_mm", "_C::cutlass_fp4_group_mm")
def fp4_grouped(a: Arguments) -> Cost:
    """(out[R, N], x packed[R, K / 2], w packed[E, N, K / 2], block scales x, block scales w, alphas, ...)."""
    out, x, w = a.tensor(0, rank=2), a.tensor(1, rank=2), a.tensor(2, rank=3)
    cost = grouped(x, w, out.shape[1], 2 * x.shape[1], out.dtype, also=a.tensor(3).bytes + a.tensor(4).bytes)
    return Cost(
        family="moe",
        flops=cost.flops,
        bytes_read=cost.bytes_read,
        bytes_written=cost.bytes_written,
        unit="fp4",
        weight_bytes=cost.weight_bytes,
    )


@formula("_moe_C::moe_wna16_marlin_gemm", "sgl_kernel::moe_wna16_marlin_gemm")
def marlin_moe(a: Arguments) -> Cost:
    """(x[T, K], out[T k, N], packed[E, ...], ..., M, N, K, ...): each row of the output is one choice of a token."""
    x, out = a.tensor(0, rank=2), a.tensor(1, rank=2)
    packed = next(t for t in a.tensors()[2:] if len(t.shape) == 3 and not t.dtype.floating)
    scales = next(t for t in a.tensors()[2:] if len(t.shape) == 3 and t.dtype.floating)
    (rows, n), k = out.shape, x.shape[1]
    experts = packed.shape[0]
    share = touched(experts, 1.0, rows) / experts
    weights = share * (packed.bytes + scales.bytes)
    return Cost(
        family="moe",
        flops=2.0 * rows * n * k,
        bytes_read=x.bytes + weights,
        bytes_written=out.written,
        unit=x.unit,
        weight_bytes=weights,
    )
