"""Softmax: the scores read once, the probabilities written once. Its FLOPs are not counted (a convention of the
report).
"""

from __future__ import annotations

from .arguments import Arguments
from .cost import Cost
from .registry import formula


@formula("aten::softmax", "aten::log_softmax", hands_on=True)
@formula("aten::_softmax", "aten::_log_softmax", "aten::_safe_softmax")
def softmax(a: Arguments) -> Cost:
    """softmax(x, dim, dtype?): a dtype number at input 2 of the public ops is the result's; half_to_float of the inner ones
    writes fp32."""
    x = a.tensor(0)
    width = x.width
    inner = a.name in ("aten::_softmax", "aten::_log_softmax")
    if inner and a.flag(2):
        width = 4.0
    elif not inner and (dtype := a.dtype(2)) is not None:
        width = dtype.bytes
    return Cost(family="softmax", bytes_read=x.bytes, bytes_written=x.numel * width)


@formula("aten::_masked_softmax")
def masked_softmax(a: Arguments) -> Cost:
    """_masked_softmax(x, mask, ...)."""
    x = a.tensor(0)
    return Cost(family="softmax", bytes_read=x.bytes + a.tensor(1).bytes, bytes_written=x.written)
