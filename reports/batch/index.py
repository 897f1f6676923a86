"""The batch's page and tables, from what was kept of each trace."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from markupsafe import Markup

from .. import output
from ..html import environment, inline_asset, policy_for
from ..inert import inert
from ..parquet import write_parquet
from .rows import COLUMNS, job_rows, rows_of
from .store import load_all

RESULTS, TABLES, PAGE = "traces", "tables", "index.html"
SHOWN_WITHOUT_SCRIPT = 200


def write_index(out: Path) -> tuple[int, int]:
    """Write `index.html` and the Parquet tables of a batch; returns the traces and how many of them failed."""
    entries = load_all(out / RESULTS)
    write_parquet([e.analysis for e in entries if e.analysis is not None], output.folder(out / TABLES))
    output.write(out / PAGE, render_index(rows_of(entries)))
    return len(entries), sum(e.error is not None for e in entries)


def render_index(rows: list[dict[str, Any]]) -> str:
    """The page: counts, charts, jobs, and a table that sorts, filters and pages. Under 5 MB for 10,000 traces."""
    css = inline_asset("report.css") + inline_asset("batch.css")
    script = inline_asset("batch.js")
    shown = [{**row, "trace": inert(str(row["trace"]), 300)} for row in rows]
    strings: dict[str, int] = {}
    packed = [[_packed(row[c], strings) for c in COLUMNS] for row in shown]
    data = json.dumps({"columns": COLUMNS, "strings": list(strings), "rows": packed}, separators=(",", ":"))
    return (
        environment()
        .get_template("batch.html")
        .render(
            css=Markup(css),  # noqa: S704 - our own files
            script=Markup(script),  # noqa: S704
            policy=policy_for(css, script),
            data=Markup(data.replace("<", "\\u003c")),  # noqa: S704 - JSON whose only markup character is escaped
            rows=shown[:SHOWN_WITHOUT_SCRIPT],
            total=len(rows),
            traces=len({row["trace"] for row in rows}),
            bounds=Counter(row["bound"] for row in rows).most_common(),
            jobs=job_rows(rows),
            chart=_chart(rows),
        )
    )


def _packed(value: Any, strings: dict[str, int]) -> Any:
    """Strings by number (they repeat), numbers to 5 digits."""
    if isinstance(value, str):
        return {"s": strings.setdefault(inert(value, 400), len(strings))}
    return float(f"{value:.5g}") if isinstance(value, float) else value


def _chart(rows: list[dict[str, Any]]) -> Markup:
    """Labels by device."""
    from ..charts.batch import regimes_by_device

    return Markup(regimes_by_device(rows)) if rows else Markup("")  # noqa: S704 - drawn by our own code


__all__ = ["PAGE", "RESULTS", "TABLES", "render_index", "write_index"]
