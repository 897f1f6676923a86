"""An `Analysis` as polars frames: one row a phase, operator, kernel, part, step or finding."""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, Any, get_args, get_origin

import msgspec
import polars as pl

from boundby.analyzers.analysis import (
    Analysis,
    Finding,
    KernelRow,
    OperatorRow,
    PartRow,
    Phase,
    Shares,
    StepRow,
)
from boundby.analyzers.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ROWS: dict[str, type[msgspec.Struct]] = {
    "operators": OperatorRow,
    "kernels": KernelRow,
    "parts": PartRow,
    "steps": StepRow,
    "findings": Finding,
}
TABLES = ("phases", *_ROWS)
_TYPES: dict[Any, Any] = {str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}


def frame(analyses: Iterable[Analysis], table: str = "phases") -> pl.DataFrame:
    """The rows of `table` (one of `TABLES`) of all analyses, with the columns `trace` and `phase` (its id) first.

    Columns are named and typed as in the JSON, also when there is no row. Raises `UsageError` for another table.
    """
    if table == "phases":
        return pl.DataFrame(list(_phases(analyses)), schema=_phase_schema(), orient="row", strict=False)
    if table not in _ROWS:
        raise UsageError(f"table {table!r} is not known; choose one of {', '.join(TABLES)}")
    rows = (
        {"trace": analysis.trace.path, "phase": phase.id, **_plain(row)}
        for analysis in analyses
        for phase in analysis.phases
        for row in getattr(phase, table)
    )
    return pl.DataFrame(
        list(rows), schema={"trace": pl.String, "phase": pl.String, **_schema(_ROWS[table])}, orient="row", strict=False
    )


def _plain(row: msgspec.Struct) -> dict[str, Any]:
    return {field.encode_name: getattr(row, field.name) for field in _columns(type(row))}


def _columns(struct: type[msgspec.Struct]) -> list[Any]:
    """The fields that make a column: scalars and lists of text."""
    return [field for field in msgspec.structs.fields(struct) if _dtype(field.type) is not None]


def _schema(struct: type[msgspec.Struct]) -> dict[str, Any]:
    return {field.encode_name: _dtype(field.type) for field in _columns(struct)}


def _dtype(hint: Any) -> Any:
    if get_origin(hint) is tuple:
        return pl.List(pl.String) if get_args(hint)[0] is str else None
    if get_origin(hint) is dict:
        return None
    scalar = next((arg for arg in get_args(hint) if arg is not NoneType), hint)
    return _TYPES.get(scalar)


def _phase_schema() -> dict[str, Any]:
    return {
        "trace": pl.String,
        "device": pl.String,
        "phase": pl.String,
        **{name: dtype for name, dtype in _schema(Phase).items() if name != "id"},
        **{f"{name}_share": pl.Float64 for name in msgspec.structs.asdict(Shares())},
        "predicted_bound": pl.String,
        "predicted_wall_us": pl.Float64,
    }


def _phases(analyses: Iterable[Analysis]) -> Iterator[dict[str, Any]]:
    for analysis in analyses:
        for phase in analysis.phases:
            shares = {} if phase.shares is None else msgspec.structs.asdict(phase.shares)
            yield {
                "trace": analysis.trace.path,
                "device": analysis.device.name,
                "phase": phase.id,
                **{name: value for name, value in _plain(phase).items() if name != "id"},
                **{f"{name}_share": share for name, share in shares.items()},
                "predicted_bound": None if phase.predicted is None else phase.predicted.bound,
                "predicted_wall_us": None if phase.predicted is None else phase.predicted.wall_us,
            }
