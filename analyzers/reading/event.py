"""The typed form of one event: only the fields that are kept. What it refuses goes through `salvage`."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import msgspec

_NAMES = {
    "external_id": "External id",
    "dims": "Input Dims",
    "types": "Input type",
    "strides": "Input Strides",
    "concrete": "Concrete Inputs",
    "size": "Bytes",
    "allocated": "Total Allocated",
    "reserved": "Total Reserved",
    "device_type": "Device Type",
    "device_id": "Device Id",
    "python_id": "Python id",
    "parent_id": "Python parent id",
    "registers": "registers per thread",
    "shared_memory": "shared memory",
    "collective": "Collective name",
    "in_elements": "In msg nelems",
    "out_elements": "Out msg nelems",
    "group_size": "Group size",
    "comm_dtype": "dtype",
    "external_id2": "external id",
}
RAW = msgspec.Raw()
NULL = -(2**63)
"""Stands for an absent integer in the columns, which are plain int64 while they grow."""


class Args(msgspec.Struct, gc=False, rename=lambda n: _NAMES.get(n, n)):
    """Arguments of an event."""

    correlation: int = NULL
    external_id: int = NULL
    external_id2: int = NULL
    device: int = NULL
    stream: int = NULL
    bytes: int | str = NULL
    """Of a copy or set; ROCm's runtime calls write it as text."""
    dims: msgspec.Raw = RAW
    types: msgspec.Raw = RAW
    strides: msgspec.Raw = RAW
    concrete: msgspec.Raw = RAW
    grid: msgspec.Raw = RAW
    block: msgspec.Raw = RAW
    registers: msgspec.Raw = RAW
    shared_memory: msgspec.Raw = RAW
    collective: msgspec.Raw = RAW
    in_elements: msgspec.Raw = RAW
    out_elements: msgspec.Raw = RAW
    group_size: msgspec.Raw = RAW
    comm_dtype: msgspec.Raw = RAW
    size: int = NULL
    allocated: int = NULL
    reserved: int = NULL
    device_type: int = NULL
    device_id: int = NULL
    python_id: int | None = None
    parent_id: int | None = None
    kernel_kwargs: msgspec.Raw = RAW
    kernel_backend: msgspec.Raw = RAW


class Event(msgspec.Struct, gc=False):
    """One event; `ts` and `dur` in microseconds."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: int | str = 0
    tid: int | str = 0
    ts: float = 0.0
    dur: float = math.nan
    args: Args | None = None


class ExactEvent(msgspec.Struct, gc=False):
    """The same with decimal times, for stamps beyond what a float holds to the nanosecond."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: int | str = 0
    tid: int | str = 0
    ts: Decimal = Decimal(0)
    dur: Decimal | None = None
    args: Args | None = None


AnyEvent = Event | ExactEvent

FLOAT_EXACT_BELOW_US = 8.79e12
"""A float64 count of microseconds below this times 1000 rounds to the exact nanosecond (2**53 / 1000 / ~1.02)."""


def loose(raw: Any) -> ExactEvent | None:
    """An event from untyped JSON, field by field; None when it is no event."""
    if not isinstance(raw, dict):
        return None
    ts = _number(raw.get("ts"))
    return ExactEvent(
        ph=raw["ph"] if isinstance(raw.get("ph"), str) else "",
        cat=raw["cat"] if isinstance(raw.get("cat"), str) else "",
        name=str(raw.get("name", "")),
        pid=_identity(raw.get("pid")),
        tid=_identity(raw.get("tid")),
        ts=Decimal(0) if ts is None else ts,
        dur=_number(raw.get("dur")),
        args=_args(raw.get("args")),
    )


def _identity(value: Any) -> int | str:
    return value if isinstance(value, (int, str)) else str(value)


def _number(value: Any) -> Decimal | None:
    try:
        found = Decimal(str(value).strip())
    except ArithmeticError:
        return None
    return found if found.is_finite() and abs(found) < Decimal(10) ** 16 else None


_INTS = [
    "correlation",
    "external_id",
    "external_id2",
    "device",
    "stream",
    "bytes",
    "size",
    "allocated",
    "reserved",
    "device_type",
    "device_id",
    "python_id",
    "parent_id",
]


def _args(value: Any) -> Args | None:
    if not isinstance(value, dict):
        return None
    found = Args()
    for field in Args.__struct_fields__:
        given = value.get(_NAMES.get(field, field))
        if given is None:
            continue
        if field in _INTS:
            number = _number(given)
            if number is not None and abs(number) < 2**63:
                setattr(found, field, int(number))
        else:
            try:
                setattr(found, field, msgspec.Raw(msgspec.json.encode(given)))
            except (TypeError, ValueError, OverflowError, RecursionError):
                continue
    return found
