"""Triton kernels that inductor made from fused ops: what their arguments hold.

A kernel's arguments are its input, in-out and output tensors, in this order, then the sizes of its iteration space
(x, y, z and reduction sizes). Each tensor moves once, the last one is written, and none moves more elements than the
space has: an embedding table or a cache among the arguments is not read whole. Templates (`triton_tem_`) hold a
matrix product.
"""

from __future__ import annotations

import math
import re

from .arguments import Arguments, Tensor, Unusable, require
from .cost import Cost, Family
from .gemm import product
from .registry import formula

_WORDS: tuple[tuple[Family, str], ...] = (
    ("norm", r"layer_norm|rms_norm|group_norm|rsqrt"),
    ("softmax", "softmax"),
    ("embedding", "embedding"),
    ("sampling", "argmax|topk|sort"),
    ("activation", "silu|gelu|sigmoid|relu"),
    ("cat", r"(^|_)cat(_|\d|$)"),
)


def _space(a: Arguments) -> int:
    """Points of the iteration space: the product of the trailing integer arguments."""
    sizes = []
    for i in reversed(range(len(a))):
        if a.call.types[i] != "Scalar":
            break
        sizes.append(a.integer(i))
    require(bool(sizes) and all(size > 0 for size in sizes))
    return math.prod(sizes)


@formula("triton_poi_*", "triton_red_*", "triton_per_*")
def fused(a: Arguments) -> Cost:
    """A pointwise, reduction or persistent-reduction kernel."""
    space = _space(a)
    moved = [min(t.distinct, space) * t.width for t in a.tensors()]
    if not moved:
        raise Unusable
    return Cost(family=_family(a.name), bytes_read=sum(moved[:-1]), bytes_written=moved[-1])


def _family(name: str) -> Family:
    found = next((family for family, pattern in _WORDS if re.search(pattern, name)), None)
    return found or ("reduction" if name.startswith(("triton_red_", "triton_per_")) else "fused")


@formula("triton_tem_*")
def template(a: Arguments) -> Cost:
    """A matrix product: two operands that share K, then the output and what its epilogue reads."""
    matrices = [t for t in a.tensors() if len(t.shape) in (2, 3)]
    require(len(matrices) >= 3 and "attention" not in a.name)
    x, w, out = matrices[0], matrices[1], matrices[-1]
    (m, k), n = x.shape[-2:], w.shape[-1]
    require(w.shape[-2] == k and x.shape[:-2] == w.shape[:-2])
    batch = math.prod(x.shape[:-2])
    require(out.numel == batch * m * n)
    others = sum(t.bytes for t in _others(a.tensors(), (x, w, out)))
    return product(x, w, m, n, k, batch=batch, out=out.dtype, also_read=others, weight=len(x.shape) == 2)


def _others(tensors: list[Tensor], used: tuple[Tensor, ...]) -> list[Tensor]:
    rest = list(tensors)
    for tensor in used:
        rest.remove(tensor)
    return rest
