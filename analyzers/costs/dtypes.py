"""Element types as traces spell them: how many bytes an element takes, and which peak its arithmetic is judged by.

Kineto writes C++ names ("c10::BFloat16", "long int"); inductor and Python wrappers write torch's ("bf16",
"torch.int64").
"""

from __future__ import annotations

from typing import NamedTuple

from .cost import Unit


class Dtype(NamedTuple):
    """Bytes per element (0.5 for packed 4-bit), the unit that multiplies it (None: no matrix unit), real or not."""

    bytes: float
    unit: Unit | None
    floating: bool = False


_FP64 = Dtype(8, "fp64", floating=True)
_FP32 = Dtype(4, "fp32", floating=True)
_BF16 = Dtype(2, "bf16", floating=True)
_FP16 = Dtype(2, "fp16", floating=True)
_FP8 = Dtype(1, "fp8", floating=True)
_FP4 = Dtype(0.5, "fp4", floating=True)
_INT8 = Dtype(1, "int8")

DTYPES: dict[str, Dtype] = {
    **dict.fromkeys(("double", "float64"), _FP64),
    **dict.fromkeys(("float", "float32", "fp32", "tf32"), _FP32),
    **dict.fromkeys(("c10::bfloat16", "bfloat16", "bf16", "__nv_bfloat16", "__hip_bfloat16"), _BF16),
    **dict.fromkeys(("c10::half", "half", "float16", "fp16", "__half"), _FP16),
    **dict.fromkeys(
        (
            "c10::float8_e4m3fn",
            "c10::float8_e4m3fnuz",
            "c10::float8_e5m2",
            "c10::float8_e5m2fnuz",
            "float8_e4m3fn",
            "float8_e4m3fnuz",
            "float8_e5m2",
            "float8_e5m2fnuz",
            "fp8",
        ),
        _FP8,
    ),
    # A shared exponent of a block-scaled format: one byte, never multiplied.
    **dict.fromkeys(("c10::float8_e8m0fnu", "float8_e8m0fnu"), Dtype(1, None, floating=True)),
    # One element of this type is a byte that holds two 4-bit values.
    **dict.fromkeys(("c10::float4_e2m1fn_x2", "float4_e2m1fn_x2"), Dtype(1, "fp4", floating=True)),
    "fp4": _FP4,
    **dict.fromkeys(("signed char", "int8", "int8_t", "c10::qint8"), _INT8),
    **dict.fromkeys(("unsigned char", "uint8", "uint8_t", "c10::quint8"), Dtype(1, "int8")),
    **dict.fromkeys(("bool",), Dtype(1, None)),
    **dict.fromkeys(("short", "short int", "int16", "unsigned short", "uint16"), Dtype(2, None)),
    **dict.fromkeys(("int", "int32", "unsigned int", "uint32", "c10::qint32"), Dtype(4, None)),
    **dict.fromkeys(("long", "long int", "long long", "int64", "unsigned long", "uint64"), Dtype(8, None)),
    **dict.fromkeys(("c10::complex<float>", "complex64"), Dtype(8, "fp32", floating=True)),
    **dict.fromkeys(("c10::complex<double>", "complex128"), Dtype(16, "fp64", floating=True)),
    **dict.fromkeys(("c10::complex<c10::half>", "complex32"), Dtype(4, "fp16", floating=True)),
}

SCALAR_TYPES: dict[int, str] = {
    0: "unsigned char",
    1: "signed char",
    2: "short int",
    3: "int",
    4: "long int",
    5: "c10::Half",
    6: "float",
    7: "double",
    8: "c10::complex<c10::Half>",
    9: "c10::complex<float>",
    10: "c10::complex<double>",
    11: "bool",
    15: "c10::BFloat16",
    23: "c10::Float8_e5m2",
    24: "c10::Float8_e4m3fn",
    25: "c10::Float8_e5m2fnuz",
    26: "c10::Float8_e4m3fnuz",
    44: "c10::Float8_e8m0fnu",
    45: "c10::Float4_e2m1fn_x2",
}
"""c10's ScalarType numbers, as a dtype argument stands in an op's concrete inputs."""


def dtype_of(name: str) -> Dtype | None:
    """The dtype that a trace calls `name`, or None for what is not one ("Scalar", "TensorList", "", an unknown type)."""
    key = name.strip().lower()
    return DTYPES.get(key.removeprefix("torch.").removeprefix("const ").removesuffix(" const"))
