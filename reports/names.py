"""Kernel names as people read them: template arguments and parameter lists folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .inert import inert

if TYPE_CHECKING:
    from boundby.analyzers.analysis import KernelRow


def fold(name: str, limit: int = 60) -> str:
    """`void at::native::f<float, 4>(int, char*)` as `f<…>`, at most `limit` characters.

    Only what stands outside all brackets is kept; of a C++ path its last two names.
    """
    kept: list[str] = []
    depth = 0
    for char in name[:4000]:
        # "(" after a space is a remark ("Memcpy HtoD (Pageable -> Device)"), not a parameter list.
        if char in "<(" and (depth or not kept or kept[-1] != " "):
            if depth == 0 and char == "<":
                kept.append("<…>")
            depth += 1
        elif char in ">)" and depth:
            depth -= 1
        elif depth == 0:
            kept.append(char)
    text = "".join(kept).strip().removeprefix("void ").strip() or name
    path = text.split("::")
    text = "::".join(part for part in path[-2:] if part)
    return inert(text, limit)


def short(row: KernelRow, limit: int = 60) -> str:
    """The row's own short name where the analysis has one, else its folded name."""
    return inert(row.short_name, limit) if row.short_name else fold(row.name, limit)
