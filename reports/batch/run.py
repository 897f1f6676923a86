"""Analyses many traces in parallel; each result is kept as soon as it is there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from boundby.analyzers.errors import BoundbyError, UsageError
from boundby.tracer.version import VERSION

from .inputs import Input
from .ranks import job_and_rank
from .store import Entry, content_of, is_current, key_of, load, save

PER_PROCESS, PER_BYTE = 150e6, 0.6
"""Memory of a worker: a floor, and bytes per byte of text (measured: 440 MB for a 1 GB trace)."""
DIED = "the worker process died while analysing it (out of memory?); analyse it alone, or with --jobs 1"


class Task(NamedTuple):
    """One trace to analyse."""

    source: str
    content: str
    key: str
    folder: str
    options: str
    device: str | None
    model: str | None
    pages: bool


def analyse_one(task: Task) -> tuple[str, str | None]:
    """Analyse one trace, write its page and its entry; returns its source and its error. Never raises `Exception`s: one bad
    trace must not stop the others."""
    from boundby.analyzers.analyze import analyze

    folder = Path(task.folder)
    entry = Entry(
        source=task.source, content=task.content, version=VERSION, options=task.options, page=f"{task.key}.html"
    )
    import msgspec

    try:
        analysis = analyze(task.source, device=task.device, model=task.model, timelines=task.pages)
        if task.pages:
            from .. import output
            from ..html import render

            output.write(folder / entry.page, render(analysis))
        job, rank = job_and_rank(task.source, analysis.trace.metadata)
        bare = tuple(msgspec.structs.replace(phase, timelines=()) for phase in analysis.phases)
        analysis = msgspec.structs.replace(analysis, phases=bare)
        entry = msgspec.structs.replace(entry, analysis=analysis, job=job, rank=rank)
    except BoundbyError as error:
        entry = msgspec.structs.replace(entry, error=str(error))
    except Exception as error:  # noqa: BLE001 - a fault of ours on one trace is that trace's row
        entry = msgspec.structs.replace(entry, error=f"unexpected {type(error).__name__}: {error}")
    save(folder, task.key, entry)
    return task.source, entry.error


def plan(inputs: Iterable[Input], folder: Path, *, device: str | None, model: str | None, pages: bool) -> list[Task]:
    """The traces whose kept result is missing or out of date."""
    options = f"device={device} model={model} pages={pages}"
    tasks = []
    for item in inputs:
        key = key_of(item.source)
        content = content_of(item.source, item.size)
        if not is_current(load(folder, key), content, options, folder):
            tasks.append(Task(item.source, content, key, str(folder), options, device, model, pages))
    return tasks


def jobs_for(inputs: Iterable[Input], asked: int | None) -> int:
    """Worker processes: the cores, and never more than the free memory holds of the heaviest trace."""
    heaviest = max((item.weight for item in inputs), default=0)
    fits = int(_free_memory() // (PER_PROCESS + PER_BYTE * heaviest))
    return max(1, min(asked or os.cpu_count() or 1, fits))


def run(
    tasks: list[Task], *, jobs: int, backend: str, scheduler: str | None, done: Callable[[str, str | None], None]
) -> None:
    """Analyse all tasks, calling `done(source, error)` after each. A worker that dies takes only its own trace with it."""
    finished: set[str] = set()

    def note(source: str, error: str | None) -> None:
        finished.add(source)
        done(source, error)

    for attempt_jobs in (jobs, 1):
        left = [t for t in tasks if t.source not in finished]
        if not left:
            return
        if attempt_jobs == 1 and backend == "processes":
            for task in left:
                _alone(task, note)
            return
        try:
            for source, error in _results(left, attempt_jobs, backend, scheduler):
                note(source, error)
        except BaseException as error:
            if not _is_worker_death(error):
                raise
            _take_finished(left, finished, note)


def _results(tasks: list[Task], jobs: int, backend: str, scheduler: str | None) -> Iterator[tuple[str, str | None]]:
    from joblib import Parallel, delayed

    with _backend(backend, scheduler):
        if backend == "processes":
            parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch=jobs)
        else:
            parallel = Parallel(n_jobs=-1, batch_size=1)
        yield from parallel(delayed(analyse_one)(task) for task in tasks)


@contextmanager
def _backend(name: str, scheduler: str | None) -> Iterator[Any]:
    if name == "processes":
        yield None
        return
    from joblib import parallel_config

    try:
        from distributed import Client
    except ImportError:
        raise UsageError("--backend dask needs dask.distributed; pip install 'boundby[fleet]'") from None
    try:
        client = Client(scheduler, timeout="20s")  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(f"--scheduler {scheduler}: cannot be reached ({error})") from None
    with client, parallel_config(backend="dask"):
        yield client


def _alone(task: Task, note: Callable[[str, str | None], None]) -> None:
    """In a process of its own, so that its death is seen and costs nothing else."""
    try:
        for source, error in _results([task], 2, "processes", None):
            note(source, error)
    except BaseException as error:
        if not _is_worker_death(error):
            raise
        entry = Entry(
            source=task.source, content=task.content, version="", options=task.options, page="", error=DIED
        )  # no version: the next run tries it again
        save(Path(task.folder), task.key, entry)
        note(task.source, DIED)


def _take_finished(tasks: list[Task], finished: set[str], note: Callable[[str, str | None], None]) -> None:
    """Results that were written before the pool broke, and not handed over any more."""
    for task in tasks:
        entry = load(Path(task.folder), task.key) if task.source not in finished else None
        if entry is not None and is_current(entry, task.content, task.options, Path(task.folder)):
            note(task.source, entry.error)


def _is_worker_death(error: BaseException) -> bool:
    return type(error).__name__ in ("TerminatedWorkerError", "BrokenProcessPool", "KilledWorker")


def _free_memory() -> float:
    try:
        text = Path("/proc/meminfo").read_text("ascii")
        return float(next(row for row in text.splitlines() if row.startswith("MemAvailable")).split()[1]) * 1024
    except (OSError, StopIteration, ValueError):
        return 4e9
