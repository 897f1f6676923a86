"""Nested facts of a recording as lines of a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import units
from .inert import inert


def flatten(facts: Any, prefix: str = "", most: int = 150) -> list[tuple[str, str]]:
    """Nested metadata as (dotted name, text) pairs, at most `most`."""
    return list(_flat(facts, prefix))[:most]


def _flat(facts: Any, prefix: str) -> Iterable[tuple[str, str]]:
    if isinstance(facts, dict):
        for key, value in facts.items():
            yield from _flat(value, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(facts, (list, tuple)) and any(isinstance(value, (dict, list, tuple)) for value in facts):
        for number, value in enumerate(facts):
            yield from _flat(value, f"{prefix}[{number}]")
    else:
        text = ", ".join(map(str, facts)) if isinstance(facts, (list, tuple)) else _fact(facts, prefix)
        yield inert(prefix, 120), inert(text, 300)


def _fact(value: Any, name: str) -> str:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if number and (name.endswith(("_bytes", "bytes_per_token", "totalGlobalMem")) or "_bytes_" in name):
        return units.size(float(value))
    return f"{value:,.6g}" if isinstance(value, float) else str(value)
