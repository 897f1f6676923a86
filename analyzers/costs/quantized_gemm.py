"""Products with packed weights: GPTQ, AWQ, Marlin, Machete, bitsandbytes, torchao, GGUF and QServe.

FLOPs 2 M N K as for any product, judged by the activations' dtype, to which the weights are unpacked; bytes: the
weights at their packed width with scales and zero points, the activations, the output. K is the activations' last
size; N comes from the scales, from the sizes among the arguments, or from the output.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .arguments import Arguments, Tensor, Unusable, require
from .cost import Cost
from .dtypes import Dtype
from .gemm import product
from .moves import spelled
from .registry import formula


def unpacked(x: Tensor, packed: Tensor, n: int, also: float, *, k: int | None = None, out: Dtype | None = None) -> Cost:
    """x[..., K] times a packed [K, N]."""
    k = k if k is not None else x.shape[-1]
    require(n > 0 and k > 0 and len(x.shape) >= 1)
    m = x.numel // k
    require(m * k == x.numel)
    return product(x, packed, m, n, k, also_read=also, out=out, unit=x.unit)


def read_of(a: Arguments, positions: Iterable[int]) -> float:
    """Bytes of the inputs at these positions that are there."""
    return sum(t.bytes for t in (a.maybe(i) for i in positions) if t is not None)


class Packing(NamedTuple):
    """Where a packed product keeps its activations, weight, scales (whose last size is N) and the rest that is read."""

    x: int
    w: int
    scales: int
    also: tuple[int, ...] = ()


TABLE: Mapping[str, Packing] = {
    # in order: x[M, K], packed[K, N / 8], scales[K / G, N], zeros, ...
    spelled("awq_gemm", "_C"): Packing(0, 1, 2, (3,)),
    # in order: x, packed[K / 8, N], zeros, scales[K / G, N], group index, ...
    spelled("gptq_gemm", "_C", "sgl_kernel"): Packing(0, 1, 3, (2, 4)),
    # in order: x, packed, scales, workspace, ...
    spelled("marlin_gemm fp8_marlin_gemm", "_C"): Packing(0, 1, 2),
    # in order: x, packed, type, out type?, group scales, group zeros?, ...
    spelled("machete_mm", "_C"): Packing(0, 1, 4, (5,)),
}


def _register(ops: list[str], packing: Packing) -> None:
    @formula(*ops)
    def listed(a: Arguments) -> Cost:
        scales = a.tensor(packing.scales, rank=2)
        also = scales.bytes + read_of(a, packing.also)
        return unpacked(a.tensor(packing.x), a.tensor(packing.w), scales.shape[-1], also)


for _ops, _packing in TABLE.items():
    _register(_ops.split(), _packing)


def sizes(a: Arguments, x: Tensor) -> tuple[int, int, int]:
    """(M, N, K) where they stand one after another among the arguments, known by x's own M and K."""
    k = x.shape[-1]
    m = math.prod(x.shape[:-1])
    values = [int(t) if (t := a.text(i)).isdigit() else None for i in range(len(a))]
    for first, n, last in zip(values, values[1:], values[2:], strict=False):
        if first == m and last == k and n:
            return m, n, k
    raise Unusable


@formula("_C::gptq_marlin_gemm", "sgl_kernel::gptq_marlin_gemm", "_C::gptq_marlin_24_gemm")
def gptq_marlin(a: Arguments) -> Cost:
    """(x, output?, packed, ..., scales, ..., M, N, K, ...): the arguments between differ by version, so N is read from
    the sizes, the weight is the first packed integer matrix, and every other matrix but the output is read."""
    x = a.tensor(0, rank=2)
    m, n, _ = sizes(a, x)
    matrices = [t for t in a.tensors()[1:] if len(t.shape) == 2 and t.shape != (m, n)]
    packed = next((t for t in matrices if not t.dtype.floating), None)
    if packed is None:
        raise Unusable
    return unpacked(x, packed, n, sum(t.bytes for t in matrices) - packed.bytes)


@formula("bitsandbytes::gemv_4bit", "bitsandbytes::gemm_4bit")
def bitsandbytes_gemv(a: Arguments) -> Cost:
    """(x[..., K], packed, [N, K], absmax, code, block size)."""
    n, k = a.ints(2)
    return unpacked(a.tensor(0), a.tensor(1), n, read_of(a, (3, 4)), k=k)


@formula("aten::_weight_int4pack_mm", "aten::_weight_int4pack_mm_for_cpu")
def int4pack(a: Arguments) -> Cost:
    """(x[M, K], packed int4, group size, scales and zeros[K / G, N, 2])."""
    scales = a.tensor(3, rank=3)
    return unpacked(a.tensor(0, rank=2), a.tensor(1), scales.shape[1], scales.bytes)


@formula("aten::_weight_int8pack_mm")
def int8pack(a: Arguments) -> Cost:
    """(x[M, K], w[N, K] int8, scales[N])."""
    w = a.tensor(1, rank=2)
    return unpacked(a.tensor(0, rank=2), w, w.shape[0], a.tensor(2).bytes)


@formula("aten::_dyn_quant_matmul_4bit")
def dynamic_4bit(a: Arguments) -> Cost:
    """(x[M, K], packed, block size, K, N): 8-bit activations made inside, so x counts as it stands."""
    k, n = a.integer(3), a.integer(4)
    return unpacked(a.tensor(0), a.tensor(1), n, 0.0, k=k)


@formula(
    "_C::ggml_mul_mat_a8", "_C::ggml_mul_mat_vec_a8", "sgl_kernel::ggml_mul_mat_a8", "sgl_kernel::ggml_mul_mat_vec_a8"
)
def ggml(a: Arguments) -> Cost:
    """(packed[N, bytes of a row], x[M, K], type, N): scales lie inside the rows."""
    packed, x = a.tensor(0, rank=2), a.tensor(1)
    return unpacked(x, packed, packed.shape[0], 0.0)


@formula("sgl_kernel::qserve_w4a8_per_chn_gemm", "sgl_kernel::qserve_w4a8_per_group_gemm")
def qserve(a: Arguments) -> Cost:
    """(x[M, K] int8, packed[N, K / 2], scales..., out[M, N])."""
    out = a.tensor(6, rank=2)
    return unpacked(a.tensor(0, rank=2), a.tensor(1, rank=2), out.shape[1], read_of(a, range(2, 6)), out=out.dtype)
