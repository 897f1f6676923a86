"""Quantisation of activations and unpacking of weights: values read at one width, written at another, with their
scales.
"""

from __future__ import annotations

from .arguments import Arguments, require
from .cost import Cost
from .moves import Moves, register_moves, spelled
from .registry import formula

register_moves(
    "quantize",
    {
        # in order: out, x, scale: a given scale is read, a found one written
        spelled("static_scaled_fp8_quant static_scaled_int8_quant", "_C"): Moves((1, 2, 3), (0,)),
        spelled("dynamic_scaled_fp8_quant dynamic_per_token_scaled_fp8_quant", "_C"): Moves((1,), (0, 2)),
        spelled("dynamic_scaled_int8_quant", "_C"): Moves((1,), (0, 2, 3)),
        spelled("static_per_tensor_quant", "aiter"): Moves((1, 2), (0,)),
        spelled("dynamic_per_tensor_quant dynamic_per_token_scaled_quant", "aiter"): Moves((1,), (0, 2)),
        # in order: x, out, scales, group size, ...
        spelled("per_token_group_fp8_quant per_token_group_quant_int8", "_C"): Moves((0,), (1, 2)),
        spelled(
            "sgl_per_token_group_quant_8bit sgl_per_token_group_quant_8bit_v2 sgl_per_token_quant_fp8 "
            "sgl_per_token_group_quant_fp8 sgl_per_token_group_quant_int8",
            "sgl_kernel",
        ): Moves((0,), (1, 2)),
        # in order: out packed fp4, x, block scales, scale
        spelled("scaled_fp4_quant", "_C", "sgl_kernel"): Moves((1, 3), (0, 2)),
        spelled("scaled_fp4_experts_quant", "_C", "sgl_kernel"): Moves((2, 3), (0, 1)),
    },
)


@formula("sgl_kernel::sgl_per_tensor_quant_fp8")
def per_tensor(a: Arguments) -> Cost:
    """(x, out, scale, is_static): a static scale is read, a dynamic one costs another read of x to find."""
    x, out = a.tensor(0), a.tensor(1)
    again = 0.0 if a.flag(3) else x.bytes
    return Cost(family="quantize", bytes_read=x.bytes + again, bytes_written=out.written)


@formula("_C::awq_dequantize", "sgl_kernel::awq_dequantize")
def awq_dequantize(a: Arguments) -> Cost:
    """(packed[K, N / 8] int32, scales[K / G, N], zeros): writes K N values of the scales' dtype."""
    packed, scales, zeros = a.tensor(0, rank=2), a.tensor(1, rank=2), a.maybe(2)
    written = packed.shape[0] * scales.shape[1] * scales.width
    read = packed.bytes + scales.bytes + (zeros.bytes if zeros else 0.0)
    return Cost(family="quantize", bytes_read=read, bytes_written=written)


@formula("bitsandbytes::dequantize_4bit")
def bitsandbytes_dequantize(a: Arguments) -> Cost:
    """(packed, absmax, block size, kind, shape, dtype): writes the shape in the dtype; two values a packed byte."""
    packed, absmax = a.tensor(0), a.tensor(1)
    dtype = a.dtype(5)
    require(dtype is not None)
    width = dtype.bytes if dtype else 0.0
    return Cost(family="quantize", bytes_read=packed.bytes + absmax.bytes, bytes_written=2 * packed.bytes * width)
