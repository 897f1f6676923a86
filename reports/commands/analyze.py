"""`boundby analyze TRACE…`: what bounds each phase of a saved trace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundby.analyzers.errors import BoundbyError, UsageError

from ..messages import fail, progress

if TYPE_CHECKING:
    from boundby.analyzers.analysis import Analysis


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command("analyze")(analyze)


def analyze(
    traces: Annotated[
        list[str], typer.Argument(metavar="TRACE", help="Kineto traces: files (.json, .gz, .zst) or URLs.")
    ],
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report (several traces: a folder).")
    ] = None,
    json: Annotated[
        str | None, typer.Option(metavar="FILE|-", help="Write the JSON; - prints it and nothing else.")
    ] = None,
    parquet: Annotated[
        Path | None, typer.Option(metavar="DIR|FILE", help="Write all tables to a folder, or phases to a file.")
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="The device, if the trace does not say: a name of `boundby devices`.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model: a config.json or its folder.")] = None,
    capture: Annotated[
        str | None, typer.Option(metavar="PATH", help="A trace of the capture of its graphs, or a folder of them.")
    ] = None,
    mapping: Annotated[
        str | None, typer.Option(metavar="PATH", help="An eager trace of the same model, for kernels in graphs.")
    ] = None,
    frames: Annotated[bool, typer.Option("--frames", help="Read Python stacks too; slower.")] = False,
    top: Annotated[int, typer.Option(min=0, help="Rows of the tables on the terminal.")] = 8,
) -> None:
    """Account for a saved trace's time and label each phase.

    The result goes to the terminal, or as JSON to stdout with --json -. Of several traces the readable ones are
    reported and the exit code is that of the first that failed; JSON is then an array.
    """
    _check_outputs(html, json, parquet, many=len(traces) > 1)
    analyses, failures = _analyze_all(
        traces,
        device=device,
        model=model,
        capture=capture,
        mapping=mapping,
        frames=frames,
        timelines=html is not None,
    )
    if analyses:
        from ..delivery import deliver

        deliver(analyses, html=html, json=json, parquet=parquet, top=top, many=len(traces) > 1)
    if failures:
        raise typer.Exit(failures[0].exit_code)


def _check_outputs(html: Path | None, json: str | None, parquet: Path | None, *, many: bool) -> None:
    from ..output import check_writable

    if many and html is not None and html.suffix:
        raise UsageError(f"--html {html}: several traces need a folder; name one without a suffix")
    json_file = Path(json) if json is not None and json != "-" else None
    for path in (None if many else html, json_file, parquet if parquet and parquet.suffix else None):
        if path is not None:
            check_writable(path)


def _analyze_all(traces: list[str], **options: Any) -> tuple[list[Analysis], list[BoundbyError]]:
    from boundby.analyzers.analyze import analyze as run

    analyses: list[Analysis] = []
    failures: list[BoundbyError] = []
    with progress("reading") as update:
        for number, trace in enumerate(traces):
            update(f"analysing {trace}", number / len(traces) if len(traces) > 1 else None)
            try:
                analyses.append(run(trace, **options))
            except BoundbyError as error:
                if len(traces) == 1 or isinstance(error, UsageError):
                    raise
                failures.append(error)
    for failure in failures:
        fail(f"boundby: {failure}")
    return analyses, failures
