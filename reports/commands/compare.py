"""`boundby compare A B`: what changed between two recordings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from boundby.analyzers.errors import UsageError

from ..messages import progress, say


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command("compare")(compare)


def compare(
    before: Annotated[str, typer.Argument(metavar="A", help="A trace, an analysis (JSON), a baseline, or a folder.")],
    after: Annotated[str, typer.Argument(metavar="B", help="The same, recorded later.")],
    json: Annotated[str | None, typer.Option(metavar="FILE|-", help="Write the comparison as JSON.")] = None,
    markdown: Annotated[str | None, typer.Option(metavar="FILE|-", help="Write it as Markdown.")] = None,
    device: Annotated[str | None, typer.Option(help="The device, if the traces do not say.")] = None,
    model: Annotated[str | None, typer.Option(help="The model: a config.json or its folder.")] = None,
    top: Annotated[int, typer.Option(min=0, help="Kernels shown of each phase.")] = 8,
) -> None:
    """Say what changed, by phase, figure and kernel. Of two folders, recordings of one name are paired."""
    import msgspec

    from boundby.analyzers.comparison import compare as run

    from ..comparison_terminal import print_comparison
    from ..markdown import comparison_markdown
    from ..recordings import load_recording

    if json == "-" and markdown == "-":
        raise UsageError("--json - and --markdown -: only one of them can have stdout; name a file for the other")
    found = []
    with progress("comparing") as update:
        for a, b in pairs(before, after):
            update(f"comparing {a} and {b}", None)
            sides = [load_recording(side, device=device, model=model) for side in (a, b)]
            found.append(run(*sides))
    if json is not None:
        data = msgspec.json.encode(found if len(found) > 1 else found[0]) + b"\n"
        put(json, data)
    if markdown is not None:
        put(markdown, "\n".join(comparison_markdown(c, top=top) for c in found).encode())
    if "-" not in (json, markdown):
        for comparison in found:
            print_comparison(comparison, top=top)


def pairs(before: str, after: str) -> list[tuple[str, str]]:
    """The recordings to set side by side: the two given, or those of one name in two folders."""
    from ..recordings import recordings_in

    a, b = Path(before), Path(after)
    if a.is_dir() != b.is_dir():
        raise UsageError(f"{before} and {after}: one is a folder and the other is not; give two of a kind")
    if not a.is_dir():
        return [(before, after)]
    left, right = recordings_in(a), recordings_in(b)
    for name in sorted(left.keys() ^ right.keys()):
        say(f"{name}: only in {before if name in left else after}; not compared")
    shared = [(str(left[name]), str(right[name])) for name in left if name in right]
    if not shared:
        raise UsageError(f"{before} and {after}: no file name is in both; name the two files instead")
    return shared


def put(place: str, data: bytes) -> None:
    """Write a result to a file, or to stdout for "-"."""
    if place == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    from .. import output

    output.write(Path(place), data)
    say(f"wrote {place}")
