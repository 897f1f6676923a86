"""Normalisations: the input read, the weight and bias read, the output written; no FLOPs counted.

Row statistics are counted where an op returns them (native_layer_norm: mean and reciprocal deviation in fp32 for half
precisions).
"""

from __future__ import annotations

import math

from .arguments import Arguments, Tensor
from .cost import Cost
from .registry import formula


def normalised(x: Tensor, parameters: list[Tensor | None], *, statistics: float = 0.0) -> Cost:
    """Read x and the parameters, write as much as x, and the row statistics (bytes)."""
    read = x.bytes + sum(p.bytes for p in parameters if p is not None)
    return Cost(family="norm", bytes_read=read, bytes_written=x.written + statistics)


@formula("aten::layer_norm", covers="none")
@formula("aten::native_layer_norm")
def layer_norm(a: Arguments) -> Cost:
    """layer_norm(x, normalised shape, weight?, bias?, eps): writes y, and mean and deviation per row."""
    x = a.tensor(0)
    rows = x.numel / max(math.prod(a.ints(1)), 1) if a.text(1) else x.numel / max(x.shape[-1], 1)
    return normalised(x, [a.maybe(2), a.maybe(3)], statistics=2 * rows * max(x.width, 4))


@formula("aten::rms_norm", covers="none")
@formula("aten::_fused_rms_norm")
def rms_norm(a: Arguments) -> Cost:
    """rms_norm(x, normalised shape, weight?, eps)."""
    x = a.tensor(0)
    rows = x.numel / max(x.shape[-1], 1)
    return normalised(x, [a.maybe(2)], statistics=rows * 4 if "fused" in a.name else 0.0)


@formula("aten::group_norm", covers="none")
@formula("aten::native_group_norm")
def group_norm(a: Arguments) -> Cost:
    """native_group_norm(x, weight?, bias?, ...) and group_norm(x, groups, weight?, bias?, eps)."""
    first = 1 if "native" in a.name else 2
    return normalised(a.tensor(0), [a.maybe(first), a.maybe(first + 1)])


@formula("aten::batch_norm", "aten::_batch_norm_impl_index", covers="none")
@formula(
    "aten::native_batch_norm", "aten::cudnn_batch_norm", "aten::miopen_batch_norm", "aten::_native_batch_norm_legit"
)
@formula("aten::_native_batch_norm_legit_no_training")
def batch_norm(a: Arguments) -> Cost:
    """batch_norm(x, weight?, bias?, running mean?, running variance?, ...)."""
    return normalised(a.tensor(0), [a.maybe(i) for i in range(1, 5)])
