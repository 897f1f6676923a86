"""Normalisations: the input read, the weight and bias read, the output written; no FLOPs counted.

Row statistics are counted where an op returns them (native_layer_norm: mean and reciprocal deviation in fp32 for half
precisions).
"""

from __future__ import annotations

import math

from .arguments import Arguments, Tensor
from .cost import Cost
from .moves import Moves, register_moves, spelled
from .registry import formula


def normalised(x: Tensor, parameters: list[Tensor | None], *, statistics: float = 0.0) -> Cost:
    """Read x and the parameters, write as much as x, and the row statistics (bytes)."""
    read = x.bytes + sum(p.bytes for p in parameters if p is not None)
    return Cost(family="norm", bytes_read=read, bytes_written=x.written + statistics)


@formula("aten::layer_norm", hands_on=True)
@formula("aten::native_layer_norm")
def layer_norm(a: Arguments) -> Cost:
    """layer_norm(x, normalised shape, weight?, bias?, eps): writes y, and mean and deviation per row."""
    x = a.tensor(0)
    rows = x.numel / max(math.prod(a.ints(1)), 1) if a.text(1) else x.numel / max(x.shape[-1], 1)
    return normalised(x, [a.maybe(2), a.maybe(3)], statistics=2 * rows * max(x.width, 4))


@formula("aten::rms_norm", hands_on=True)
@formula("aten::_fused_rms_norm")
def rms_norm(a: Arguments) -> Cost:
    """rms_norm(x, normalised shape, weight?, eps)."""
    x = a.tensor(0)
    rows = x.numel / max(x.shape[-1], 1)
    return normalised(x, [a.maybe(2)], statistics=rows * 4 if "fused" in a.name else 0.0)


@formula("aten::group_norm", hands_on=True)
@formula("aten::native_group_norm")
def group_norm(a: Arguments) -> Cost:
    """native_group_norm(x, weight?, bias?, ...) and group_norm(x, groups, weight?, bias?, eps)."""
    first = 1 if "native" in a.name else 2
    return normalised(a.tensor(0), [a.maybe(first), a.maybe(first + 1)])


@formula("aten::batch_norm", "aten::_batch_norm_impl_index", hands_on=True)
@formula(
    "aten::native_batch_norm", "aten::cudnn_batch_norm", "aten::miopen_batch_norm", "aten::_native_batch_norm_legit"
)
@formula("aten::_native_batch_norm_legit_no_training")
def batch_norm(a: Arguments) -> Cost:
    """batch_norm(x, weight?, bias?, running mean?, running variance?, ...)."""
    return normalised(a.tensor(0), [a.maybe(i) for i in range(1, 5)])


VLLM, SGL, AITER = "_C", "sgl_kernel", "aiter"

register_moves(
    "norm",
    {
        # in order: out, x, weight, eps
        spelled("rms_norm", VLLM): Moves((1, 2), (0,)),
        spelled("rmsnorm gemma_rmsnorm", SGL): Moves((1, 2), (0,)),
        spelled("rmsnorm", AITER, "flashinfer"): Moves((1, 2), (0,)),
        # in order: out, x, weight, scale, eps: the output is fp8
        spelled("rms_norm_static_fp8_quant", VLLM): Moves((1, 2, 3), (0,)),
        # in order: out, x, weight, scale written, eps, upper bound?, residual?
        spelled("rms_norm_dynamic_per_token_quant", VLLM): Moves((1, 2, 6), (0, 3, 6)),
        # in order: x, residual, weight, eps: x becomes the norm, residual the sum
        spelled("fused_add_rms_norm", VLLM): Moves((0, 1, 2), (0, 1)),
        spelled("fused_add_rmsnorm gemma_fused_add_rmsnorm", SGL, "flashinfer"): Moves((0, 1, 2), (0, 1)),
        # in order: out, x, residual, weight, scale, eps
        spelled("fused_add_rms_norm_static_fp8_quant", VLLM): Moves((1, 2, 3, 4), (0, 2)),
        # in order: out, x, residual in, residual out, weight, eps
        spelled("add_rmsnorm rmsnorm2d_fwd_with_add layernorm2d_fwd_with_add rmsnorm2d_fwd_with_add_ck", AITER): Moves(
            (1, 2, 4, 5), (0, 3)
        ),
        # in order: out, x, residual in, residual out, x scale?, y scale, weight, eps
        spelled("rmsnorm2d_fwd_with_add_dynamicquant", AITER): Moves((1, 2, 5), (0, 3, 4)),
        spelled("rmsnorm2d_fwd_with_dynamicquant", AITER): Moves((1, 3), (0, 2)),
        # in order: x, weight, eps -> y
        spelled("rmsnorm2d_fwd rms_norm rms_norm_cu rmsnorm2d_fwd_ck layernorm2d_fwd", AITER): Moves((0, 1), result=0),
        spelled("rocm_aiter_rms_norm", "vllm"): Moves((0, 1), result=0),
        spelled("rms_norm", "vllm", "sglang"): Moves((0, 1), result=0),
    },
)


@formula("vllm::rocm_aiter_rmsnorm2d_fwd_with_add")
def aiter_add_norm(a: Arguments) -> Cost:
    """(x, residual, weight, eps) -> (y, sum): two tensors like x are written."""
    x = a.tensor(0)
    read = x.bytes + a.tensor(1).bytes + a.tensor(2).bytes
    return Cost(family="norm", bytes_read=read, bytes_written=2 * x.written)
