"""Handing over results: each asked-for form to its place, the table to the terminal."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from . import output
from .messages import say

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from boundby.analyzers.analysis import Analysis


def deliver(
    analyses: Sequence[Analysis],
    *,
    html: Path | None = None,
    json: str | None = None,
    parquet: Path | None = None,
    top: int = 8,
    many: bool = False,
) -> None:
    """Write every form that has a path and print the table, unless stdout is taken by the JSON (`json="-"`).

    `many` says that several traces were asked for: HTML is then a folder of pages and JSON an array.
    Raises `OutputError`.
    """
    if html is not None:
        _write_pages(analyses, html, many=many)
    if parquet is not None:
        from .parquet import write_parquet

        write_parquet(analyses, parquet)
        say(f"wrote {parquet}")
    document = as_json(analyses, many=many) if json is not None else b""
    if json == "-":
        sys.stdout.buffer.write(document)
        sys.stdout.buffer.flush()
        return
    if json is not None:
        output.write(Path(json), document)
        say(f"wrote {json}")
    from .terminal import print_analysis

    for analysis in analyses:
        print_analysis(analysis, top=top)


def as_json(analyses: Sequence[Analysis], *, many: bool) -> bytes:
    """The public JSON: one object, or an array of them if `many`; ends with a newline."""
    if not many:
        return analyses[0].to_json() + b"\n"
    return b"[" + b",\n".join(analysis.to_json() for analysis in analyses) + b"]\n"


def _write_pages(analyses: Sequence[Analysis], html: Path, *, many: bool) -> None:
    from .html import render

    if not many:
        output.write(html, render(analyses[0]))
        say(f"wrote {html}")
        return
    pages = output.folder(html)
    for analysis, name in zip(analyses, page_names(analysis.trace.path for analysis in analyses), strict=True):
        output.write(pages / name, render(analysis))
        say(f"wrote {pages / name}")


def page_names(traces: Iterable[str]) -> list[str]:
    """A distinct, harmless file name a trace: its own name without suffixes, and a number where two would collide."""
    taken: set[str] = set()
    names = []
    for trace in traces:
        stem = re.split(r"[/\\]", trace)[-1].split("?")[0]
        stem = re.sub(r"(\.pt)?(\.trace)?\.json(\.gz|\.zst)?$", "", stem)
        stem = re.sub(r"[^A-Za-z0-9._-]+", "_", stem).strip(".")[:100] or "trace"
        name, number = f"{stem}.html", 2
        while name.lower() in taken:
            name, number = f"{stem}-{number}.html", number + 1
        taken.add(name.lower())
        names.append(name)
    return names
