"""`Arguments`: the inputs of one call as a formula wants them. What is missing or not of the wanted kind raises
`Unusable`, so that a formula states only the good case and `cost_of` answers None for the rest."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from .cost import Call, Unit
from .dtypes import SCALAR_TYPES, Dtype, dtype_of


class Unusable(Exception):  # noqa: N818 - not an error: the call does not say enough to be priced
    """The call does not say what the formula needs."""


class Tensor(NamedTuple):
    """A tensor as a call sees it. Shapes and strides in elements; strides None where the trace has none."""

    shape: tuple[int, ...]
    dtype: Dtype
    type_name: str
    strides: tuple[int, ...] | None = None

    @property
    def numel(self) -> int:
        """Elements that the call sees: an expanded dimension counts in full."""
        return math.prod(self.shape)

    @property
    def distinct(self) -> int:
        """Elements in memory: a dimension of stride 0 is one element."""
        if self.strides is None:
            return self.numel
        return math.prod(size for size, stride in zip(self.shape, self.strides, strict=True) if stride or not size)

    @property
    def bytes(self) -> float:
        """Bytes of the distinct elements, what a single read of the tensor moves."""
        return self.distinct * self.dtype.bytes

    @property
    def written(self) -> float:
        """Bytes of a write to every element."""
        return self.numel * self.dtype.bytes

    @property
    def width(self) -> float:
        """Bytes per element."""
        return self.dtype.bytes

    @property
    def unit(self) -> Unit | None:
        """The unit that multiplies this dtype."""
        return self.dtype.unit

    def like(self, *shape: int) -> Tensor:
        """A dense tensor of this dtype and another shape."""
        return Tensor(shape, self.dtype, self.type_name)


class Arguments:
    """The inputs of a call by position."""

    __slots__ = ("assumed", "call")

    def __init__(self, call: Call, assumed: str | None = None) -> None:
        self.call = call
        self.assumed = assumed
        """The dtype of tensors in lists, whose types Kineto does not write."""

    def __len__(self) -> int:
        return len(self.call.dims)

    @property
    def name(self) -> str:
        """The op's name."""
        return self.call.name

    def maybe(self, i: int) -> Tensor | None:
        """Input i if it is a tensor, else None (absent, optional and not given, a scalar)."""
        call = self.call
        if not 0 <= i < min(len(call.dims), len(call.types)):
            return None
        dtype = dtype_of(call.types[i])
        if dtype is None:
            return None
        shape = _shape(call.dims[i])
        return Tensor(shape, dtype, call.types[i], _strides(call.strides, i, len(shape)))

    def tensor(self, i: int, *, rank: int | None = None) -> Tensor:
        """Input i as a tensor (of this rank, where one is asked for); raises `Unusable` otherwise."""
        found = self.maybe(i)
        if found is None or (rank is not None and len(found.shape) != rank):
            raise Unusable
        return found

    def tensors(self) -> list[Tensor]:
        """Every input that is a tensor with at least one dimension, in order."""
        found = (self.maybe(i) for i in range(len(self.call.dims)))
        return [t for t in found if t is not None and t.shape]

    def list_of(self, i: int) -> list[Tensor]:
        """Input i as a list of tensors, of the assumed dtype."""
        if not 0 <= i < min(len(self.call.dims), len(self.call.types)) or self.call.types[i] != "TensorList":
            raise Unusable
        dtype = dtype_of(self.assumed or "")
        if dtype is None:
            raise Unusable
        strides = self.call.strides[i] if i < len(self.call.strides) else ()
        result = []
        for n, dims in enumerate(self.call.dims[i]):
            shape = _shape(dims)
            result.append(Tensor(shape, dtype, self.assumed or "", _strides(strides, n, len(shape))))
        return result

    def text(self, i: int) -> str:
        """The concrete value of input i as text; "" where there is none."""
        value = self.call.concrete[i] if 0 <= i < len(self.call.concrete) else ""
        return value if isinstance(value, str) else ""

    def integer(self, i: int) -> int:
        """The concrete integer at input i; raises `Unusable` where there is none."""
        try:
            return int(self.text(i))
        except ValueError:
            raise Unusable from None

    def flag(self, i: int) -> bool | None:
        """The concrete boolean at input i, or None where there is none."""
        return {"True": True, "False": False, "true": True, "false": False}.get(self.text(i))

    def ints(self, i: int) -> list[int]:
        """The concrete list of integers at input i, as "[1, 2]"; raises `Unusable` where there is none."""
        text = self.text(i).strip()
        if not (text.startswith("[") and text.endswith("]")):
            raise Unusable
        try:
            return [int(part) for part in text[1:-1].split(",") if part.strip()]
        except ValueError:
            raise Unusable from None

    def dtype(self, i: int) -> Dtype | None:
        """The dtype whose ScalarType number stands at input i, or None."""
        text = self.text(i)
        return dtype_of(SCALAR_TYPES.get(int(text), "")) if text.isdigit() else dtype_of(text)


def _shape(dims: Any) -> tuple[int, ...]:
    if not isinstance(dims, (list, tuple)):
        raise Unusable
    for size in dims:
        # bool is an int; a negative or textual size is not a size.
        if type(size) is not int or size < 0:
            raise Unusable
    return tuple(dims)


def _strides(strides: Any, i: int, rank: int) -> tuple[int, ...] | None:
    """Strides of one input, or None where they are missing or do not fit its shape."""
    if not isinstance(strides, (list, tuple)) or i >= len(strides):
        return None
    found = strides[i]
    if not isinstance(found, (list, tuple)) or len(found) != rank or any(type(s) is not int for s in found):
        return None
    return tuple(found)


def require(condition: bool) -> None:
    """Raise `Unusable` where a formula's shapes do not fit together."""
    if not condition:
        raise Unusable
