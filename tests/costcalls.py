"""Calls of ops from what a person would write, and what they must cost."""

from __future__ import annotations

from typing import Any, NamedTuple

from boundby.analyzers.costs import Call

BF16, FP16, FP32, FP64 = "c10::BFloat16", "c10::Half", "float", "double"
FP8, INT8, UINT8, INT32, INT64, BOOL = "c10::Float8_e4m3fn", "signed char", "unsigned char", "int", "long int", "bool"


class T(NamedTuple):
    """A tensor argument."""

    shape: list[int]
    type: str = FP32
    strides: list[int] | None = None


def call(name: str, *inputs: Any, extra: dict[str, Any] | None = None) -> Call:
    """A call as Kineto writes it: tensors are `T`, lists of tensors lists of `T`, lists of numbers lists, an input that
    was not given None, everything else a scalar."""
    dims, types, strides, concrete = [], [], [], []
    for value in inputs:
        if isinstance(value, T):
            row = (value.shape, value.type, value.strides if value.strides is not None else _dense(value.shape), "")
        elif isinstance(value, list) and value and isinstance(value[0], T):
            row = ([t.shape for t in value], "TensorList", [_dense(t.shape) for t in value], "")
        elif isinstance(value, list):
            row = ([], "ScalarList", [], str(value))
        elif value is None:
            row = ([], "", [], "")
        else:
            row = ([], "Scalar", [], str(value))
        for column, part in zip((dims, types, strides, concrete), row, strict=True):
            column.append(part)
    return Call(name, tuple(dims), tuple(types), tuple(strides), tuple(concrete), extra or {})


def _dense(shape: list[int]) -> list[int]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return strides[::-1]


class Case(NamedTuple):
    """One set of inputs, the ops that take them, and the cost worked out by hand."""

    ops: str
    inputs: tuple[Any, ...]
    read: float
    written: float
    flops: float = 0.0
    unit: str | None = None
    uncut: float | None = None
    extra: dict[str, Any] | None = None

    @property
    def calls(self) -> list[Call]:
        """The calls of this case, one an op."""
        return [call(name, *self.inputs, extra=self.extra) for name in self.ops.split()]


def named(space: str, names: str) -> str:
    """Op names in a namespace."""
    return " ".join(f"{space}::{name}" for name in names.split())
