"""`boundby batch PATH…`: many traces, one page, one set of tables, a page a trace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boundby.analyzers.errors import UsageError

from ..messages import fail, progress, say

FAILED = 1


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command("batch")(batch)


def batch(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH", help="Files, folders (recursive), globs, or URLs.")
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="For index.html, tables/ and traces/.")
    ] = Path("boundby-batch"),
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Worker processes; else the cores that memory allows.")
    ] = None,
    backend: Annotated[str, typer.Option(help="processes, or dask (with --scheduler).")] = "processes",
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Of a dask.distributed scheduler.")] = None,
    device: Annotated[str | None, typer.Option(help="The device, if the traces do not say.")] = None,
    model: Annotated[str | None, typer.Option(help="The model: a config.json or its folder.")] = None,
    pages: Annotated[bool, typer.Option(help="Write a report a trace.")] = True,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 if a trace could not be analysed.")] = False,
    index_only: Annotated[
        bool, typer.Option("--index-only", help="Write the page and tables again from what was kept.")
    ] = False,
) -> None:
    """Analyse many traces in parallel. What is up to date is skipped, so an interrupted batch resumes.

    A trace that cannot be read is a row with its error and stops nothing.
    """
    from .. import output
    from ..batch.index import PAGE, RESULTS, write_index
    from ..batch.inputs import find_inputs
    from ..batch.run import jobs_for, plan, run

    if backend not in ("processes", "dask"):
        raise UsageError(f"--backend {backend!r} is not processes or dask")
    if (backend == "dask") != (scheduler is not None):
        raise UsageError("--backend dask and --scheduler ADDRESS go together")
    if not paths and not index_only:
        raise UsageError("name files, folders, globs or URLs; or --index-only to rebuild the page of an earlier batch")
    output.folder(out)
    results = output.folder(out / RESULTS)
    if not index_only:
        inputs = find_inputs(paths or [], leave_out=out)
        tasks = plan(inputs, results, device=device, model=model, pages=pages)
        say(f"{len(inputs)} traces, {len(inputs) - len(tasks)} up to date")
        total, seen = max(len(tasks), 1), 0
        with progress("analysing") as update:

            def done(source: str, error: str | None) -> None:
                nonlocal seen
                seen += 1
                if error is not None:
                    fail(f"boundby: {error}")
                update(f"{seen} of {len(tasks)} traces", seen / total)
                del source

            run(tasks, jobs=jobs_for(inputs, jobs), backend=backend, scheduler=scheduler, done=done)
    traces, failed = write_index(out)
    typer.echo(f"{traces} traces, {failed} failed: {out / PAGE}")
    if strict and failed:
        raise typer.Exit(FAILED)
