"""Gated activations, act(x_1) * x_2: a row of 2 N is read, a row of N written, with the scales of a fused
quantisation.
"""

from __future__ import annotations

from .moves import Moves, register_moves, spelled

register_moves(
    "activation",
    {
        # in order: out[..., N], x[..., 2 N]
        spelled(
            "silu_and_mul gelu_and_mul gelu_tanh_and_mul mul_and_silu fatrelu_and_mul swigluoai_and_mul",
            "_C",
            "sgl_kernel",
            "aiter",
            "flashinfer",
        ): Moves((1,), (0,)),
        # in order: out, x: not gated
        spelled("gelu_new gelu_fast gelu_quick", "_C", "sgl_kernel", "aiter"): Moves((1,), (0,)),
        # in order: out fp8, x, scale
        spelled("silu_and_mul_quant", "_C"): Moves((1, 2), (0,)),
        spelled("scaled_silu_and_mul", "aiter"): Moves((1, 2), (0,)),
        # in order: out fp4, block scales, x, scale
        spelled("silu_and_mul_nvfp4_quant", "_C"): Moves((2, 3), (0, 1)),
    },
)
