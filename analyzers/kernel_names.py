"""`recognise`: what a kernel's name tells, by a table (kernel_names.json): family, library, dtypes, tile, and a short name."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from .costs.cost import Family, Unit


class KernelName(NamedTuple):
    """What a kernel's name tells. Nothing here is measured: `family` is "other" and `unit` None where the name is silent."""

    family: Family
    library: str
    dtypes: tuple[str, ...]
    tile: str
    short: str
    """The name a person reads: without parameters, template arguments folded."""
    unit: Unit | None
    """The unit that a matrix kernel multiplies with, where its name says so."""


class _Table(NamedTuple):
    families: tuple[tuple[str, str, re.Pattern[str]], ...]
    triton: re.Pattern[str]
    triton_words: tuple[tuple[str, re.Pattern[str]], ...]
    triton_kinds: dict[str, str]
    libraries: tuple[tuple[str, re.Pattern[str]], ...]
    dtypes: tuple[tuple[str, re.Pattern[str]], ...]
    units: tuple[tuple[str, re.Pattern[str]], ...]
    tiles: tuple[re.Pattern[str], ...]
    shorten: tuple[tuple[re.Pattern[str], str], ...]
    wrappers: re.Pattern[str]
    drivers: re.Pattern[str]
    functors: tuple[re.Pattern[str], ...]


def _named(rows: list[list[str]]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((name, re.compile(pattern)) for name, pattern in rows)


@cache
def _table() -> _Table:
    raw: dict[str, Any] = json.loads(Path(__file__).with_name("kernel_names.json").read_text("utf-8"))
    return _Table(
        families=tuple((family, library, re.compile(pattern)) for family, library, pattern in raw["families"]),
        triton=re.compile(raw["triton"]["pattern"]),
        triton_words=_named(raw["triton"]["words"]),
        triton_kinds=raw["triton"]["kinds"],
        libraries=_named(raw["libraries"]),
        dtypes=_named(raw["dtypes"]),
        units=_named(raw["units"]),
        tiles=tuple(re.compile(pattern) for pattern in raw["tiles"]),
        shorten=tuple((re.compile(pattern), to) for pattern, to in raw["shorten"]),
        wrappers=re.compile(raw["wrappers"]),
        drivers=re.compile(raw["drivers"]),
        functors=tuple(re.compile(pattern) for pattern in raw["functors"]),
    )


_LONGEST = 2000
"""Characters that are looked at; C++ names repeat themselves long before."""
_MATRIX = frozenset(("gemm", "attention", "moe", "convolution"))


def recognise(name: str) -> KernelName:
    """What the name of a kernel (or of a copy or a set) tells. Any text is a name; an unknown one is "other"."""
    table = _table()
    text = name[:_LONGEST]
    family, library = _family(table, text)
    unit = next((u for u, pattern in table.units if pattern.search(text)), None) if family in _MATRIX else None
    return KernelName(
        family=family,  # type: ignore[arg-type]
        library=next((known for known, pattern in table.libraries if pattern.search(text)), library),
        dtypes=tuple(d for d, pattern in table.dtypes if pattern.search(text)),
        tile=next((m.group(1) for m in (p.search(text) for p in table.tiles) if m), ""),
        short=short_name(text),
        unit=unit,  # type: ignore[arg-type]
    )


def _family(table: _Table, text: str) -> tuple[str, str]:
    inductor = table.triton.match(text)
    if inductor:
        kind, words = inductor.groups()
        found = next((f for f, pattern in table.triton_words if pattern.search(words)), None)
        return found or table.triton_kinds[kind], "inductor"
    head = _head(text)
    for subject in (head, text) if head != text else (text,):
        for family, library, pattern in table.families:
            if pattern.search(subject):
                return family, library
    return "other", ""


def _head(text: str) -> str:
    """The kernel's own name with its functor: what it is called says more than what its arguments mention."""
    if text.startswith("_Z"):
        return "::".join(demangled(text)[:4]) or text
    table = _table()
    return _operation(table, text) if table.drivers.search(text[:160]) else folded(text)


def demangled(text: str) -> list[str]:
    """The identifiers of a mangled C++ name, in order; a full demangler is not needed to read them."""
    found, i = [], 0
    while match := _TOKEN.search(text, i):
        i = match.end()
        if length := match.group(1):
            word = text[i : i + int(length)]
            if _IDENTIFIER.fullmatch(word):
                found.append(word)
                i += len(word)
    return found


_TOKEN = re.compile(r"S[0-9A-Z]*_|T[0-9]*_|L[a-z]n?[0-9]+E|([1-9][0-9]{0,2})")
"""Substitutions, template parameters and literals hold digits that are no lengths of identifiers."""
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def short_name(text: str) -> str:
    """A name for people: no return type, no parameters, template arguments folded, the functor of a generic kernel kept."""
    if text.startswith("_Z"):
        words = [w for w in demangled(text) if w not in ("_GLOBAL__N_1", "kentry")]
        return "::".join(words[:2]) if words else text
    table = _table()
    if table.drivers.search(text[:160]):
        return _operation(table, text)
    short = folded(text) or text
    if table.wrappers.match(short) and (inner := _INNER.search(text)):
        return f"{short}[{inner.group(1)}]"
    for pattern, to in table.shorten:
        short = pattern.sub(to, short)
    return short


_INNER = re.compile(r"<\s*(?:[\w]+::)*(\w+)")


def _operation(table: _Table, text: str) -> str:
    base = folded(text).rpartition("::")[2]
    for pattern in table.functors:
        match = pattern.search(text)
        if match:
            return f"{base}[{match.group(1) if match.groups() else match.group()}]"
    return base


def folded(text: str) -> str:
    """The name without return type, template arguments and parameters."""
    text = (
        text.removeprefix("void ")
        .replace("(anonymous namespace)::", "")
        .removesuffix(" [clone .kd]")
        .removesuffix(".kd")
    )
    result: list[str] = []
    depth = 0
    for i, char in enumerate(text):
        if char == "<":
            depth += 1
        elif char == ">":
            depth = max(depth - 1, 0)
        elif char == "(" and not depth:
            # "Memcpy DtoD (Device -> Device)" keeps its parenthesis: it follows a space.
            if not i or text[i - 1] == " ":
                return text
            break
        elif not depth:
            result.append(char)
    name = "".join(result).strip()
    # What stands before a space is a return type.
    return name.rpartition(" ")[2] if "::" in name else name
