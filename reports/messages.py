"""What a command says beside its result: messages on stderr, and progress that suits a terminal or a log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .inert import inert

Progress = Callable[[str, float | None], None]
"""Called with what is being done and the fraction done (None: not known)."""


@dataclass
class Settings:
    """The switches that every command has."""

    quiet: bool = False
    debug: bool = False


SETTINGS = Settings()


def say(text: str) -> None:
    """One line on stderr, unless --quiet."""
    if not SETTINGS.quiet:
        fail(text)


def fail(text: str) -> None:
    """One line on stderr, also under --quiet: an error is never hushed."""
    sys.stderr.write(inert(text) + "\n")
    sys.stderr.flush()


@contextmanager
def progress(total: str) -> Iterator[Progress]:
    """Show long work: a bar with its remaining time on a terminal, a line a stage in a log, nothing if quiet."""
    if SETTINGS.quiet:
        yield lambda _doing, _done: None
    elif sys.stderr.isatty():
        with _bar(total) as update:
            yield update
    else:
        yield _lines()


@contextmanager
def _bar(total: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(inert(total), total=None)

        def update(doing: str, done: float | None) -> None:
            bar.update(task, description=inert(doing), total=None if done is None else 1.0, completed=done or 0.0)

        yield update


def _lines() -> Progress:
    seen: set[str] = set()

    def update(doing: str, _done: float | None) -> None:
        if doing not in seen:
            seen.add(doing)
            say(doing)

    return update
