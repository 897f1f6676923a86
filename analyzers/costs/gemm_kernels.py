"""Matrix products under engines' own names: bf16, fp8, int8 and fp4 GEMMs of vLLM, SGLang, aiter, cuBLASLt and
DeepGEMM.

The same FLOPs and bytes as any product (see `gemm`); scales are read beside the operands. A row of the table says
where the operands, the output and the rest stand. The weight is found by the side that K stands on, so a transposed
one needs no row of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .arguments import Arguments, Tensor, Unusable, require
from .cost import Cost
from .dtypes import Dtype
from .gemm import linear_of, product
from .moves import spelled
from .registry import formula

_BF16 = Dtype(2, "bf16", floating=True)


class Layout(NamedTuple):
    """Positions of a product's inputs. The result's dtype is that of `out`, else the number at `dtype`, else bf16 for a
    quantised product and the first operand's for a plain one."""

    x: int
    w: int
    out: int | None = None
    dtype: int | None = None
    also: tuple[int, ...] = ()
    """Scales, zero points, bias."""
    k_packed: int = 1
    """Values per element of both operands along K (2 for packed fp4)."""


def register_products(table: Mapping[str, Layout]) -> None:
    """Register one formula a row."""
    for ops, layout in table.items():
        _register(ops.split(), layout)


def _register(ops: list[str], layout: Layout) -> None:
    @formula(*ops)
    def listed(a: Arguments) -> Cost:
        return placed(a, layout)


def placed(a: Arguments, layout: Layout) -> Cost:
    """The cost of one call by its row."""
    x, w = a.tensor(layout.x), a.tensor(layout.w)
    also = sum(t.bytes for t in (a.maybe(i) for i in layout.also) if t is not None)
    out = _result_dtype(a, layout, x)
    packed = 2 if "float4" in x.type_name.lower() else layout.k_packed
    if packed > 1:
        return _packed(x, w, also, out, packed)
    if len(w.shape) == 3:
        return _batched(x, w, also, out)
    return linear_of(x, w, also, out=out)


def _result_dtype(a: Arguments, layout: Layout, x: Tensor) -> Dtype:
    out = a.maybe(layout.out) if layout.out is not None else None
    if out is not None:
        return out.dtype
    asked = a.dtype(layout.dtype) if layout.dtype is not None else None
    return asked or (x.dtype if x.dtype.bytes >= 2 else _BF16)


def _packed(x: Tensor, w: Tensor, also: float, out: Dtype, factor: int) -> Cost:
    (m, k), (n, k2) = x.shape, w.shape
    if k != k2:
        (k2, n) = w.shape
    require(k == k2)
    return product(x, w, m, n, k * factor, out=out, also_read=also, unit="fp4")


def _batched(x: Tensor, w: Tensor, also: float, out: Dtype) -> Cost:
    require(len(x.shape) == 3 and x.shape[0] == w.shape[0])
    k = x.shape[2]
    if k not in w.shape[1:]:
        raise Unusable
    n = w.shape[1] if k == w.shape[2] else w.shape[2]
    return product(x, w, x.shape[1], n, k, batch=x.shape[0], out=out, also_read=also)


register_products(
    {
        # in order: a, b, scale a, scale b, bias?, result scale?, out dtype?, fast accumulation
        "aten::_scaled_mm": Layout(0, 1, dtype=6, also=(2, 3, 4)),
        "trtllm::cublas_scaled_mm": Layout(0, 1, dtype=5, also=(2, 3, 4)),
        # in order: out, a, b, scale a, scale b, bias?
        spelled("cutlass_scaled_mm cutlass_scaled_mm_azp", "_C"): Layout(1, 2, out=0, also=(3, 4, 5, 6, 7)),
        # in order: a, b, scale a, scale b, out dtype, bias?
        spelled("fp8_scaled_mm int8_scaled_mm fp8_blockwise_scaled_mm", "sgl_kernel"): Layout(
            0, 1, dtype=4, also=(2, 3, 5)
        ),
        # in order: out, a, b
        spelled("dsv3_fused_a_gemm dsv3_router_gemm", "sgl_kernel"): Layout(1, 2, out=0),
        # in order: A[B, M, K], B[B, K, N], D, scale A, scale B, ...
        spelled("bmm_fp8", "sgl_kernel", "flashinfer"): Layout(0, 1, out=2, also=(3, 4)),
        # in order: out, a packed, b packed, block scales a, block scales b, alpha
        spelled("cutlass_scaled_fp4_mm", "_C", "sgl_kernel"): Layout(1, 2, out=0, also=(3, 4, 5), k_packed=2),
        # in order: x, w, scale x, scale w, ...
        spelled("rocm_aiter_gemm_a8w8", "vllm"): Layout(0, 1, dtype=5, also=(2, 3, 4)),
        spelled("rocm_aiter_gemm_a8w8_blockscale rocm_aiter_triton_gemm_a8w8_blockscale", "vllm"): Layout(
            0, 1, dtype=4, also=(2, 3)
        ),
        spelled("w8a8_triton_block_scaled_mm_func w8a8_block_fp8_matmul_deepgemm", "vllm", "sglang"): Layout(
            0, 1, dtype=5, also=(2, 3)
        ),
        spelled("w8a8_block_fp8_matmul_triton", "sglang"): Layout(0, 1, dtype=5, also=(2, 3)),
        spelled("gemm_a8w8_blockscale gemm_a8w8 gemm_a8w8_bpreshuffle", "aiter"): Layout(0, 1, dtype=4, also=(2, 3)),
        # in order: x, w, scale x, scale w, out, ...
        spelled(
            "gemm_a8w8_ck gemm_a8w8_asm gemm_a8w8_blockscale_ck gemm_a8w8_blockscale_bpreshuffle_ck "
            "gemm_a8w8_bpreshuffle_ck gemm_a8w8_blockscale_bpreshuffle_asm flatmm_a8w8_blockscale_asm deepgemm_ck",
            "aiter",
        ): Layout(0, 1, out=4, also=(2, 3, 5)),
        spelled("gemm_a4w4 _gemm_a4w4_asm gemm_a4w4_asm gemm_a4w4_blockscale", "aiter"): Layout(
            0, 1, out=4, also=(2, 3), k_packed=2
        ),
        # in order: x, w, bias?, out dtype, ...
        spelled("gemm_a16w16 gemm_a16w16_", "aiter"): Layout(0, 1, dtype=3, also=(2,)),
        spelled("gemm_a16w16_asm", "aiter"): Layout(0, 1, out=2, also=(3, 6)),
        # in order: a, b[K, N], solution, bias?, out dtype?, ...
        spelled("hipb_mm rocb_mm", "aiter"): Layout(0, 1, dtype=4, also=(3,)),
        # in order: w[N, K], x[M, K], ...: skinny products of decode steps
        spelled("wvSplitK LLMM1", "_rocm_C"): Layout(1, 0),
        # in order: w, x, bias?, out, scale x, scale w, ...
        "_rocm_C::wvSplitKQ": Layout(1, 0, out=2, also=(3, 4)),
        # in order: A, B, ...: int8 rows and columns with their statistics
        "bitsandbytes::int8_linear_matmul": Layout(0, 1),
        "bitsandbytes::int8_scaled_mm": Layout(0, 1, also=(2, 3, 4)),
        # in order: lhs, lhs scales, rhs, rhs scales, out, ...
        spelled("fp8_gemm_nt fp8_gemm_nt_op gemm_fp8_fp8_bf16_nt", "deep_gemm", "vllm", "sglang"): Layout(
            0, 2, out=4, also=(1, 3)
        ),
        # in order: x, scale x, zero x, w, scale w, zero w, bias?, scale out, zero out, out dtype, ...
        "onednn::qlinear_pointwise": Layout(0, 3, dtype=9, also=(1, 2, 4, 5, 6)),
        "vllm::gemm_with_dynamic_quant": Layout(0, 1, also=(2, 3)),
    }
)
