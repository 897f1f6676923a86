"""The registry of engines: how the phases of a trace are told, one convention per file.

Two decorators, by what a convention is:

* `span_grammar` for one that names its steps: a pure function from a span's name to a `SpanMark`. Most engines need no more.
* `engine` for one that looks at the whole trace: a function from `Linked` to `StepsFound`, or None when it sees nothing of
  its own.

A new file in this folder is found by itself; `order` says when it is asked (lower is earlier).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from boundby.analyzers.correlate import Linked
from boundby.analyzers.step import StepsFound

from .mark import SpanMark

Find = Callable[[Linked], StepsFound | None]
Parse = Callable[[str], SpanMark | None]


@dataclass(frozen=True, slots=True)
class Engine:
    """One way to find the steps of a trace."""

    name: str
    order: int
    find: Find
    conclusive: bool
    """Whether steps of unknown kind end the search: an engine that names its steps knows what they are not."""


_engines: dict[str, Engine] = {}
_grammars: dict[str, tuple[int, Parse]] = {}


def engine(name: str, *, order: int, conclusive: bool = True) -> Callable[[Find], Find]:
    """Register a finder. Raises `ValueError` when the name is taken."""

    def register(find: Find) -> Find:
        if name in _engines:
            raise ValueError(f"two engines are called {name!r}")
        _engines[name] = Engine(name, order, find, conclusive)
        return find

    return register


def span_grammar(name: str, *, order: int) -> Callable[[Parse], Parse]:
    """Register the grammar of a serving engine's step spans. Raises `ValueError` when the name is taken."""

    def register(parse: Parse) -> Parse:
        if name in _grammars:
            raise ValueError(f"two span grammars are called {name!r}")
        _grammars[name] = (order, parse)
        return parse

    return register


def engines() -> tuple[Engine, ...]:
    """Every engine, in the order in which they are asked."""
    return tuple(sorted(_engines.values(), key=lambda e: (e.order, e.name)))


def grammars() -> dict[str, Parse]:
    """Every span grammar by its engine's name, in order."""
    return {name: parse for name, (_, parse) in sorted(_grammars.items(), key=lambda item: (item[1][0], item[0]))}
