"""Ops that stream: a table row says which inputs an op reads and which it writes; its cost is their bytes.

Engines' custom ops take their outputs as arguments, so their recorded shapes hold all that moves. Optional inputs
that were not given count nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .arguments import Arguments, Unusable
from .cost import Cost, Family
from .registry import formula


class Moves(NamedTuple):
    """Positions of the inputs that are read and that are written. With `result`, the op returns one tensor that looks
    like the input at that position."""

    reads: tuple[int, ...]
    writes: tuple[int, ...] = ()
    result: int | None = None


def register_moves(family: Family, table: Mapping[str, Moves]) -> None:
    """Register one formula a row: the distinct elements of what is read, every element of what is written."""
    for ops, moves in table.items():
        _register(family, ops.split(), moves)


def _register(family: Family, ops: list[str], moves: Moves) -> None:
    @formula(*ops)
    def streamed(a: Arguments) -> Cost:
        return moved(a, family, moves)


def moved(a: Arguments, family: Family, moves: Moves) -> Cost:
    """The cost of one call by its row. The first input read and the first written must be there."""
    written = [t for t in (a.maybe(i) for i in moves.writes) if t is not None]
    if moves.result is not None:
        written.append(a.tensor(moves.result))
    if not written or a.maybe(moves.reads[0]) is None:
        raise Unusable
    read = [t for t in (a.maybe(i) for i in moves.reads) if t is not None]
    return Cost(family=family, bytes_read=sum(t.bytes for t in read), bytes_written=sum(t.written for t in written))


def spelled(names: str, *spaces: str) -> str:
    """The op names of each name in each namespace, as a key of a table of moves."""
    return " ".join(f"{space}::{name}" for space in spaces for name in names.split())
