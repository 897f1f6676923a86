"""Elementwise ops: each distinct input element read once, each output element written once. No FLOPs are counted:
the flop counters of torch count none either, and no device is bound by them.

The output has the broadcast shape of the inputs and their promoted dtype; an op whose name ends in "_" writes its first
input; a tensor beyond the op's operands is `out=`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .arguments import Arguments, Tensor, Unusable, require
from .cost import Cost, Family
from .dtypes import Dtype
from .gemm import broadcast
from .registry import aten, formula

_BOOL, _INT64, _FP32 = Dtype(1, None), Dtype(8, None), Dtype(4, "fp32", floating=True)

UNARY = aten(
    "abs acos acosh angle asin asinh atan atanh bernoulli bitwise_not ceil cos cosh deg2rad digamma erf erfc "
    "erfinv exp exp2 expm1 floor frac i0 lgamma log log10 log1p log2 logit neg negative rad2deg reciprocal round "
    "rsqrt sgn sign sin sinc sinh sqrt square tan tanh trunc nan_to_num conj_physical clamp clamp_min clamp_max "
    "threshold native_dropout masked_fill tril triu cumsum cumprod cummax flip roll bitwise_left_shift "
    "bitwise_right_shift",
    in_place=True,
)
ACTIVATIONS = aten(
    "celu elu gelu hardsigmoid hardswish hardtanh leaky_relu log_sigmoid mish relu relu6 sigmoid silu softplus",
    in_place=True,
)
BINARY = aten(
    "add sub subtract rsub mul multiply div divide true_divide pow remainder fmod maximum minimum fmax fmin atan2 "
    "hypot bitwise_and bitwise_or bitwise_xor copysign floor_divide lerp prelu xlogy",
    in_place=True,
)
TESTS = aten(
    "eq ne lt le gt ge isnan isinf isfinite isposinf isneginf logical_and logical_or logical_xor logical_not signbit",
    in_place=True,
)
TERNARY = aten("addcmul addcdiv where", in_place=True)


def promote(tensors: Sequence[Tensor]) -> Dtype:
    """The dtype of a result: a floating one over an integer one, then the wider; bf16 with fp16 gives fp32. A 0-d
    tensor decides only where all are 0-d or it alone is floating."""
    ranked = [t for t in tensors if t.shape] or list(tensors)
    if not ranked:
        raise Unusable
    if any(t.dtype.floating for t in tensors) and not any(t.dtype.floating for t in ranked):
        return _FP32
    units = {t.unit for t in ranked}
    if {"bf16", "fp16"} <= units:
        return _FP32
    return max((t.dtype for t in ranked), key=lambda d: (d.floating, d.bytes))


def streamed(operands: Sequence[Tensor], written: float, family: Family) -> Cost:
    """Read the operands once, write so many bytes."""
    return Cost(family=family, bytes_read=sum(t.bytes for t in operands), bytes_written=written)


def pointwise(
    a: Arguments, operands: int, family: Family = "elementwise", *, result: Dtype | None = None, first: int = 0
) -> Cost:
    """An op on tensors among its inputs `first`..`first + operands`, broadcast together."""
    found = [t for t in (a.maybe(i) for i in range(first, first + operands)) if t is not None]
    if not found:
        raise Unusable
    target = found[0] if a.name.endswith("_") and not a.name.endswith("__") else None
    if target is not None:
        return streamed(found, target.written, family)
    shape = broadcast(*(t.shape for t in found))
    rest = [t for t in (a.maybe(i) for i in range(first + operands, len(a))) if t is not None]
    dtype = rest[-1].dtype if rest else result or promote(found)
    return streamed(found, math.prod(shape) * dtype.bytes, family)


@formula(*UNARY)
def unary(a: Arguments) -> Cost:
    """f(x), with bounds, masks or scalars beside it: masked_fill also reads its mask, native_dropout writes one."""
    if a.name.startswith(("aten::masked_fill", "aten::clamp", "aten::bitwise_left", "aten::bitwise_right")):
        return pointwise(a, 2, result=a.tensor(0).dtype)
    cost = pointwise(a, 1)
    if a.name == "aten::native_dropout":
        return Cost(
            family="elementwise", bytes_read=cost.bytes_read, bytes_written=cost.bytes_written + a.tensor(0).numel
        )
    return cost


@formula(*ACTIVATIONS)
def activation(a: Arguments) -> Cost:
    """act(x)."""
    return pointwise(a, 1, "activation")


@formula(*BINARY, *aten("__and__ __or__ __xor__ __lshift__ __rshift__"))
def binary(a: Arguments) -> Cost:
    """f(x, y), either of which may be a scalar."""
    return pointwise(a, 2)


@formula(*TESTS)
def comparison(a: Arguments) -> Cost:
    """x == y and the like: a byte per element is written."""
    return pointwise(a, 2, result=_BOOL)


@formula(*TERNARY)
def ternary(a: Arguments) -> Cost:
    """f(x, y, z); `where` has the dtype of its branches, not of its condition."""
    if a.name == "aten::where":
        branches = [t for t in (a.maybe(1), a.maybe(2)) if t is not None]
        return pointwise(a, 3, result=promote(branches))
    return pointwise(a, 3)


@formula("aten::fill_", "aten::zero_", "aten::uniform_", "aten::normal_", "aten::exponential_", "aten::random_")
def overwrite(a: Arguments) -> Cost:
    """Every element written, none read."""
    return Cost(family="elementwise", bytes_written=a.tensor(0).written)


@formula("aten::arange", "aten::linspace")
def arange(a: Arguments) -> Cost:
    """arange(end | start, end | start, end, step, dtype?, ...) or with an output; int64 unless a dtype says otherwise.
    linspace(start, end, steps, dtype?, ...) makes fp32."""
    out = a.maybe(len(a) - 1)
    if out is not None:
        return Cost(family="elementwise", bytes_written=out.written)
    if a.name == "aten::linspace":
        count, width = a.integer(2), (a.dtype(3) or _FP32).bytes
    else:
        scalars = len(a) - 4
        require(1 <= scalars <= 3)
        numbers = [float(a.text(i)) for i in range(scalars)]
        start, end, step = (0.0, *numbers, 1.0) if scalars == 1 else (*numbers, 1.0)[:3]
        count, width = max(math.ceil((end - start) / step), 0), (a.dtype(scalars) or _INT64).bytes
    return Cost(family="elementwise", bytes_written=count * width)
