"""Parquet: all tables into a folder, or the phases into one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import output
from .tables import TABLES, frame

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from boundby.analyzers.analysis import Analysis


def write_parquet(analyses: Sequence[Analysis], target: Path) -> None:
    """Write `target`: with a suffix one file of phases, else a folder with a file a table. Raises `OutputError`."""
    if target.suffix and not target.is_dir():
        _write(analyses, "phases", target)
        return
    folder = output.folder(target)
    for table in TABLES:
        _write(analyses, table, folder / f"{table}.parquet")


def _write(analyses: Sequence[Analysis], table: str, path: Path) -> None:
    with output.replacing(path) as beside:
        frame(analyses, table).write_parquet(beside)
