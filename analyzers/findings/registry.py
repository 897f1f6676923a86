"""The registry of findings: one decorator on a function that looks at a `Case` and says something, or nothing."""

from __future__ import annotations

from collections.abc import Callable

from ..analysis import Finding
from .case import Case

Diagnosis = Callable[[Case], Finding | None]
_FINDINGS: dict[str, Diagnosis] = {}


def finding(name: str) -> Callable[[Diagnosis], Diagnosis]:
    """Register a diagnosis under its stable id. Raises `ValueError` when the id is taken."""

    def register(function: Diagnosis) -> Diagnosis:
        if name in _FINDINGS:
            raise ValueError(f"finding {name!r} is registered twice")
        _FINDINGS[name] = function
        return function

    return register


def diagnoses() -> dict[str, Diagnosis]:
    """Every registered finding by id."""
    return dict(_FINDINGS)
