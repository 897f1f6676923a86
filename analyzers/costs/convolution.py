"""Convolutions: FLOPs 2 N C_out (C_in / groups) prod(kernel) prod(output size); input and weight read, output
written.

Source: the definition; torch.utils.flop_counter counts the same. A short causal convolution of a state-space model is
depthwise: C_in / groups = 1.
"""

from __future__ import annotations

import math

from .arguments import Arguments, Tensor, require
from .cost import Cost
from .gemm import read_if, wider_unit
from .registry import formula


def convolved(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    *,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool = False,
    output_padding: list[int] | None = None,
) -> Cost:
    """x[N, C_in, *size], weight[C_out, C_in / groups, *kernel] ([C_in, C_out / groups, *kernel] if transposed)."""
    space = len(x.shape) - 2
    require(space >= 1 and len(weight.shape) == space + 2)
    stride, padding, dilation = (_per_dim(v, space) for v in (stride, padding, dilation))
    kernel = weight.shape[2:]
    if transposed:
        extra = _per_dim(output_padding or [0], space)
        out = [
            (size - 1) * s - 2 * p + d * (k - 1) + e + 1
            for size, s, p, d, k, e in zip(x.shape[2:], stride, padding, dilation, kernel, extra, strict=True)
        ]
        # Each input element meets every kernel tap of its group's output channels.
        macs = x.numel * weight.shape[1] * math.prod(kernel)
        groups = x.shape[1] // weight.shape[0] if weight.shape[0] else 0
        channels = weight.shape[1] * max(groups, 1)
    else:
        out = [
            (size + 2 * p - d * (k - 1) - 1) // s + 1
            for size, s, p, d, k in zip(x.shape[2:], stride, padding, dilation, kernel, strict=True)
        ]
        channels = weight.shape[0]
        macs = x.shape[0] * channels * math.prod(out) * weight.shape[1] * math.prod(kernel)
    require(all(size > 0 for size in out))
    written = x.shape[0] * channels * math.prod(out) * x.width
    return Cost(
        family="convolution",
        flops=2.0 * macs,
        bytes_read=x.bytes + weight.bytes + read_if(bias),
        bytes_written=written,
        unit=wider_unit(x, weight),
        weight_bytes=weight.bytes,
    )


def _per_dim(values: list[int], space: int) -> list[int]:
    require(len(values) in (1, space))
    return values * space if len(values) == 1 else values


@formula("aten::convolution", "aten::_convolution", "aten::convolution_overrideable")
def convolution(a: Arguments) -> Cost:
    """convolution(x, weight, bias?, stride, padding, dilation, transposed, output padding, groups)."""
    return convolved(
        a.tensor(0),
        a.tensor(1),
        a.maybe(2),
        stride=a.ints(3),
        padding=a.ints(4),
        dilation=a.ints(5),
        transposed=a.flag(6) is True,
        output_padding=a.ints(7),
    )


@formula("aten::cudnn_convolution")
def cudnn_convolution(a: Arguments) -> Cost:
    """cudnn_convolution(x, weight, padding, stride, dilation, groups, ...)."""
    return convolved(a.tensor(0), a.tensor(1), None, padding=a.ints(2), stride=a.ints(3), dilation=a.ints(4))


@formula("aten::miopen_convolution", "aten::mkldnn_convolution")
def miopen_convolution(a: Arguments) -> Cost:
    """miopen_convolution(x, weight, bias?, padding, stride, dilation, groups, ...)."""
    return convolved(a.tensor(0), a.tensor(1), a.maybe(2), padding=a.ints(3), stride=a.ints(4), dilation=a.ints(5))


@formula("_C::causal_conv1d_fwd", "sgl_kernel::causal_conv1d_fwd", "DaoAILab::_causal_conv1d_fwd_cpp")
def causal_conv1d(a: Arguments) -> Cost:
    """causal_conv1d_fwd(x[B, D, L] or [D, T], weight[D, W], bias?, ...): in place or into as much; 2 W FLOPs an element."""
    x, weight = a.tensor(0), a.tensor(1, rank=2)
    return _causal(x, weight, read_if(a.maybe(2)))


@formula("_C::causal_conv1d_update", "sgl_kernel::causal_conv1d_update")
def causal_conv1d_update(a: Arguments) -> Cost:
    """causal_conv1d_update(x[B, D(, L)], state[*, D, W - 1], weight[D, W], bias?, ...): the state of each sequence is read
    and written too."""
    x, state, weight = a.tensor(0), a.tensor(1, rank=3), a.tensor(2, rank=2)
    kept = x.shape[0] * state.shape[1] * state.shape[2] * state.width
    cost = _causal(x, weight, read_if(a.maybe(3)))
    return Cost(
        family="convolution",
        flops=cost.flops,
        bytes_read=cost.bytes_read + kept,
        bytes_written=cost.bytes_written + kept,
        unit="fp32",
        weight_bytes=weight.bytes,
    )


def _causal(x: Tensor, weight: Tensor, bias: float) -> Cost:
    return Cost(
        family="convolution",
        flops=2.0 * x.numel * weight.shape[1],
        bytes_read=x.bytes + weight.bytes + bias,
        bytes_written=x.written,
        # These kernels accumulate on the vector units, in fp32.
        unit="fp32",
        weight_bytes=weight.bytes,
    )
