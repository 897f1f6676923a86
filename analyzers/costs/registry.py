"""The registry of cost formulas: which ops have one, and how far it reaches among the ops inside.

    @formula("aten::mm", "aten::bmm")
    def product(a: Arguments) -> Cost: ...

One op belongs to one formula; a second claim raises at import. A name that ends in "*" serves every op that starts
so.

An op's cost stands for everything inside it: the ops there are steps of the same work (addmm copies its bias).
`hands_on=True` marks ops that hand their work to others (linear to addmm): they have no cost of their own where a
formula inside has one, and cost what the formula says where they ran as one piece.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from .arguments import Arguments
from .cost import Cost

Function = Callable[[Arguments], "Cost | None"]
F = TypeVar("F", bound=Function)


class Formula(NamedTuple):
    """A registered formula: the op it serves, the function, the family's file, whether it hands its work on."""

    op: str
    function: Function
    module: str
    hands_on: bool


_EXACT: dict[str, Formula] = {}
_PREFIXES: dict[str, Formula] = {}
_FREE: dict[str, str] = {}


class TwoClaims(ValueError):  # noqa: N818
    """Two families claim one op."""


def formula(*ops: str, hands_on: bool = False) -> Callable[[F], F]:
    """Register a formula for these ops. Raises `TwoClaims` if one of them is taken."""

    def register(function: F) -> F:
        for op in ops:
            prefix = op.endswith("*")
            key = op.removesuffix("*")
            table = _PREFIXES if prefix else _EXACT
            taken = _EXACT.get(key) if not prefix else _overlapping(key)
            if taken is not None or op in _FREE:
                owner = taken.module if taken is not None else _FREE[op]
                raise TwoClaims(f"{op} belongs to {owner}; {function.__module__} claims it too")
            table[key] = Formula(op, function, function.__module__, hands_on)
        return function

    return register


def _overlapping(prefix: str) -> Formula | None:
    found = (f for p, f in _PREFIXES.items() if p.startswith(prefix) or prefix.startswith(p))
    return next(found, None)


def free(*ops: str, module: str) -> None:
    """Declare ops that neither compute nor move anything on the device: views, allocations, queries."""
    for op in ops:
        if op in _EXACT or op in _FREE:
            owner = _EXACT[op].module if op in _EXACT else _FREE[op]
            raise TwoClaims(f"{op} belongs to {owner}; {module} declares it free")
        _FREE[op] = module


def find(op: str) -> Formula | None:
    """The formula that serves an op: by its exact name, else by the longest prefix."""
    found = _EXACT.get(op)
    if found is not None or not _PREFIXES:
        return found
    return next((f for p, f in _PREFIXES.items() if op.startswith(p)), None)


def aten(names: str, *, in_place: bool = False) -> list[str]:
    """The op names of a list of aten's, one or more per line; with `in_place` each also with its underscore."""
    return [f"aten::{name}{tail}" for name in names.split() for tail in (("", "_") if in_place else ("",))]


def is_free(op: str) -> bool:
    """Whether the op is known to move and compute nothing itself."""
    return op in _FREE


def formula_names() -> tuple[str, ...]:
    """Every op that a formula serves, sorted; prefixes end in "*"."""
    return tuple(sorted([*_EXACT, *(f"{p}*" for p in _PREFIXES)]))


def free_names() -> tuple[str, ...]:
    """Every op declared free, sorted."""
    return tuple(sorted(_FREE))
