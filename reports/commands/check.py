"""`boundby check TRACE --baseline FILE`: the CI gate. Exit 0: nothing regressed; 1: a regression; 2: could not tell."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundby.analyzers.errors import UsageError

from ..messages import fail, progress
from .compare import put

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boundby.analyzers.comparison.compare import Comparison
    from boundby.analyzers.comparison.gates import GateResult

REGRESSED, UNTOLD = 1, 2


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command("check")(check)


def check(
    recordings: Annotated[
        list[str],
        typer.Argument(metavar="TRACE", help="A trace, or an analysis (JSON); several of the same are pooled."),
    ],
    baseline: Annotated[Path | None, typer.Option(metavar="FILE", help="What to compare with.")] = None,
    save_baseline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write this recording as a baseline and stop.")
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(
            help='Gates, e.g. "itl:5%,launches_per_step:0,bound"; else [tool.boundby.check] of pyproject.toml.'
        ),
    ] = None,
    lenient: Annotated[bool, typer.Option("--lenient", help="Exit 0, not 2, where a gate could not tell.")] = False,
    json: Annotated[str | None, typer.Option(metavar="FILE|-", help="Write comparison and gates as JSON.")] = None,
    markdown: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a pull-request comment.")] = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit XML.")] = None,
    device: Annotated[str | None, typer.Option(help="The device, if the trace does not say.")] = None,
    model: Annotated[str | None, typer.Option(help="The model: a config.json or its folder.")] = None,
    top: Annotated[int, typer.Option(min=0, help="Kernels shown of each phase.")] = 8,
) -> None:
    """Compare a recording with a baseline and fail on what regressed.

    On a machine that others use too, make the baseline of several recordings: how far runs lie apart is then known.

    Exit codes: 0 no gate failed, 1 a gate failed, 2 a gate could not tell (and none failed). Under GitHub Actions
    the result also goes to the job's summary and into annotations.
    """
    from boundby.analyzers.comparison import compare, parse_gates, pool, run_gates

    from ..recordings import load_recording

    if (baseline is None) == (save_baseline is None):
        raise UsageError("give either --baseline FILE to check against, or --save-baseline FILE to make one")
    gates = parse_gates(fail_on if fail_on is not None else configured_gates(Path.cwd()))
    if baseline is not None and not baseline.is_file():
        raise UsageError(f"--baseline {baseline}: no such file; make it with --save-baseline {baseline}")
    with progress("checking") as update:
        sides = []
        for recording in recordings:
            update(f"analysing {recording}", None)
            sides.append(load_recording(recording, device=device, model=model))
        after = pool(sides)
        if save_baseline is not None:
            put(str(save_baseline), after.to_json())
            return
        update(f"reading {baseline}", None)
        before = load_recording(str(baseline), device=device, model=model)
    comparison = compare(before, after)
    results = run_gates(comparison, gates)
    _deliver(comparison, results, json=json, markdown=markdown, junit=junit, top=top)
    raise typer.Exit(exit_code(results, lenient=lenient))


def exit_code(results: Sequence[GateResult], *, lenient: bool = False) -> int:
    """1 if any gate failed; else 2 if any could not tell, or none applied (0 when lenient); else 0."""
    outcomes = {r.outcome for r in results}
    if "fail" in outcomes:
        return REGRESSED
    if ("unknown" in outcomes or not outcomes) and not lenient:
        return UNTOLD
    return 0


def configured_gates(folder: Path) -> str:
    """The gates of `[tool.boundby.check] fail_on` in the nearest pyproject.toml at or above `folder`, or the default."""
    from boundby.analyzers.comparison.gates import DEFAULT_GATES

    for place in (folder, *folder.parents):
        file = place / "pyproject.toml"
        if file.is_file():
            value = _fail_on(file)
            return DEFAULT_GATES if value is None else value
    return DEFAULT_GATES


def _fail_on(file: Path) -> str | None:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        table: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: is not valid TOML ({error}); mend it, or pass --fail-on") from None
    found: Any = table
    for part in ("tool", "boundby", "check"):
        found = found.get(part, {})
        if not isinstance(found, dict):
            raise UsageError(f"{file}: [tool.boundby.check] must be a table; {part} is {found!r}")
    value = found.get("fail_on")
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return ",".join(value)
    raise UsageError(f"{file}: [tool.boundby.check] fail_on must be a string or a list of strings, not {value!r}")


def _deliver(
    comparison: Comparison,
    results: Sequence[GateResult],
    *,
    json: str | None,
    markdown: Path | None,
    junit: Path | None,
    top: int,
) -> None:
    import msgspec

    from ..annotations import github_annotations
    from ..comparison_terminal import print_comparison, print_gates
    from ..junit import junit_xml
    from ..markdown import comparison_markdown

    if json is not None:
        put(json, msgspec.json.encode({"comparison": comparison, "gates": list(results)}) + b"\n")
    if junit is not None:
        put(str(junit), junit_xml(results))
    text = comparison_markdown(comparison, results, top=top)
    if markdown is not None:
        put(str(markdown), text.encode())
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        with Path(summary).open("a", encoding="utf-8") as handle:
            handle.write(text + "\n")
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in github_annotations(results):
            fail(line)
    if json != "-":
        print_comparison(comparison, top=top)
        print_gates(results)
