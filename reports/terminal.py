"""The answer on a terminal: verdict first, then what it rests on. 80 columns, colour only where it is wanted."""

from __future__ import annotations

import os
import shutil
import sys
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from . import units, wording
from .inert import inert
from .names import short

if TYPE_CHECKING:
    from boundby.analyzers.analysis import Analysis, Phase

WIDTH = 80
_STYLES = {
    "compute": "bold red",
    "bandwidth": "bold blue",
    "launch": "bold yellow",
    "communication": "bold magenta",
    "transfer": "bold green",
    "stall": "bold cyan",
    "capacity": "bold red",
    "unknown": "bold",
}
MANY_PHASES = 6
"""Beyond this many phases, the lighter ones are told in one line each."""


def print_analysis(analysis: Analysis, *, top: int = 8, file: TextIO | None = None) -> None:
    """Print the answer to `file` (stdout); `top` rows of each table."""
    out = console(file)
    _print_head(out, analysis)
    heavy = sorted(analysis.phases, key=lambda phase: -(phase.wall_us or 0.0))[:MANY_PHASES]
    if not analysis.phases:
        line(out, "No phase was found in this trace.")
    for phase in analysis.phases:
        _print_verdict(out, phase, analysis, evidence=phase in heavy)
    _print_warnings(out, analysis)
    for phase in analysis.phases:
        if phase in heavy:
            _print_details(out, phase, top)


def console(file: TextIO | None = None) -> Console:
    """A console that never interprets the text it is given; 80 columns unless a terminal says otherwise."""
    file = file or sys.stdout
    columns = shutil.get_terminal_size((WIDTH, 24)).columns if file.isatty() else WIDTH
    colour = file.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Console(
        file=file,
        width=min(max(columns, 60), 120),
        no_color=not colour,
        color_system="auto" if colour else None,
        force_terminal=colour,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=False,
    )


def line(out: Console, text: str, style: str = "", *, bullet: bool = False) -> None:
    """Print `text`, made inert and wrapped; a `bullet` is a list's item."""
    indents: dict[str, Any] = {"initial_indent": "  - ", "subsequent_indent": "    "} if bullet else {}
    for part in wrap(inert(text), out.width - 1, break_on_hyphens=False, **indents) or [""]:
        out.print(Text(part, style=style))


def _print_head(out: Console, analysis: Analysis) -> None:
    device = analysis.device
    known = [device.name or "unknown device"]
    if device.bandwidth_gb_s is not None:
        known.append(units.byte_rate(device.bandwidth_gb_s))
    if device.memory_gb is not None:
        known.append(units.size(device.memory_gb * 1e9))
    known.append(f"peaks: {device.source}")
    line(out, analysis.trace.path, "bold")
    line(out, ", ".join(known))


def _print_verdict(out: Console, phase: Phase, analysis: Analysis, *, evidence: bool) -> None:
    out.print()
    mark = wording.SYMBOLS.get(phase.bound, "○")
    title = Text.assemble(
        (f"{mark} {inert(phase.id.upper(), 40)}  ", "bold"),
        (wording.label(phase).upper(), _STYLES.get(phase.bound, "bold")),
    )
    title.append(f"  {wording.margin(phase)}" if phase.margin is not None else "")
    if phase.confidence != "normal":
        title.append(f"  ({inert(phase.confidence)} confidence)")
    out.print(title)
    line(out, wording.headline(phase, analysis.device))
    line(out, wording.workload(phase))
    for said in (wording.predicted(phase), wording.best_finding(phase)):
        if said:
            line(out, said)
    if evidence:
        for sentence in phase.evidence[:6]:
            line(out, sentence, bullet=True)


def _print_warnings(out: Console, analysis: Analysis) -> None:
    if not analysis.trace.warnings:
        return
    out.print()
    line(out, "WARNINGS", "bold")
    for warning in analysis.trace.warnings[:12]:
        line(out, f"{warning.code}: {wording.warning(warning)}", bullet=True)
    more = len(analysis.trace.warnings) - 12
    if more > 0:
        line(out, f"and {more} more; --json has them all", bullet=True)


def _print_details(out: Console, phase: Phase, top: int) -> None:
    name = inert(phase.id, 40)
    if phase.shares is not None and phase.wall_us is not None:
        out.print()
        line(out, f"{name}: where the time goes", "bold")
        out.print(_shares(phase))
    if phase.findings:
        out.print()
        line(out, f"{name}: what would make it faster", "bold")
    for finding in phase.findings:
        saving = f" [saves about {units.duration(finding.saving_us)}]" if finding.saving_us is not None else ""
        line(out, f"{finding.title}{saving}. {_sentence(finding.evidence)} {finding.advice}", bullet=True)
    for table, total in ((_kernels(phase, top), len(phase.kernels)), (_operators(phase, top), len(phase.operators))):
        if table.row_count:
            out.print()
            out.print(table)
            _print_rest(out, total - table.row_count)


def _print_rest(out: Console, rows: int) -> None:
    if rows > 0:
        line(out, f"and {units.count(rows)} more; --top shows more, --html and --json all")


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _table(*columns: str, name: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold", expand=True)
    table.add_column(name, overflow="ellipsis", no_wrap=True, ratio=1)
    for column in columns:
        table.add_column(column, justify="left" if column == "class" else "right", no_wrap=True)
    return table


def _shares(phase: Phase) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    wall = phase.wall_us or 0.0
    for name, share in wording.ranked(phase):
        if share > 0:
            bar = Text("█" * max(1, round(share * 30)), style=_STYLES[name])
            mark = f"{wording.SYMBOLS[name]} {name}"
            table.add_row(Text(mark), Text(units.percent(share)), Text(units.duration(share * wall)), bar)
    for cause, us in sorted(phase.launch_causes.items(), key=lambda item: -item[1]):
        if wall and us >= 0.005 * wall:
            table.add_row(
                Text("  launch:"),
                Text(units.percent(us / wall)),
                Text(units.duration(us)),
                Text(inert(wording.cause_name(cause), 44)),
            )
    return table


def _kernels(phase: Phase, top: int) -> Table:
    table = _table(
        "count", "time", "share", "gap before", "of roof", "class", name=f"{inert(phase.id, 40)}: kernels by time"
    )
    for row in phase.kernels[:top]:
        table.add_row(
            Text(short(row)),
            units.count(row.count),
            units.duration(row.time_us),
            units.percent(row.share),
            units.duration(row.gap_before_us),
            units.percent(row.efficiency),
            Text(inert(row.bound_class, 13)),
        )
    return table


def _operators(phase: Phase, top: int) -> Table:
    table = _table(
        "count", "time", "FLOP/s", "B/s", "of roof", "class", name=f"{inert(phase.id, 40)}: operators by time"
    )
    for row in phase.operators[:top]:
        table.add_row(
            Text(inert(f"{row.name} {row.shapes}".strip(), 80)),
            units.count(row.count),
            units.duration(row.time_us),
            units.flop_rate(row.achieved_tflops or None).removesuffix("FLOP/s").strip(),
            units.byte_rate(row.achieved_gb_s).removesuffix("B/s").strip(),
            units.percent(row.efficiency),
            Text(inert(row.bound_class, 13)),
        )
    return table
