"""`boundby calibrate`: measure this machine's peaks, bandwidth and launch latency."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ..messages import progress, say
from ..recorder import recorder


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command("calibrate")(calibrate)


def calibrate(
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, xpu.")] = "auto",
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure again, also if this machine is known.")] = False,
    json: Annotated[
        str | None, typer.Option(metavar="FILE|-", help="Write the figures as JSON; - prints only it.")
    ] = None,
) -> None:
    """Measure this machine: GEMM peak by dtype, memory bandwidth, the smallest kernel and the launch latency.

    The figures are kept and used by `boundby profile`, which measures them itself on its first run.
    """
    with progress("calibrating") as update:
        target = recorder("models").pick_device(device)
        found = recorder("calibrate").calibrate(target, fresh=fresh, progress=update)
    if json is not None:
        _write(found, json)
    if json != "-":
        _print(found)


def _write(found: Any, target: str) -> None:
    import msgspec

    document = msgspec.json.format(msgspec.json.encode(found)) + b"\n"
    if target == "-":
        sys.stdout.buffer.write(document)
        return
    from ..output import write

    write(Path(target), document)
    say(f"wrote {target}")


def _print(found: Any) -> None:
    from rich.table import Table
    from rich.text import Text

    from .. import units
    from ..terminal import console, line

    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("figure", no_wrap=True)
    for name in ("measured", "spread"):
        table.add_column(name, justify="right", no_wrap=True)
    rows = [(f"GEMM {dtype}", f"peak_{dtype}", units.flop_rate(rate)) for dtype, rate in found.peak_tflops.items()]
    rows += [
        ("memory, read", "bandwidth", units.byte_rate(found.bandwidth_gb_s)),
        ("memory, copy", "copy", units.byte_rate(found.copy_gb_s)),
        ("smallest kernel", "smallest_kernel", units.duration(found.smallest_kernel_us)),
        ("launch latency", "launch_latency", units.duration(found.launch_latency_us)),
    ]
    for name, key, value in rows:
        table.add_row(Text(name), value, units.percent(found.spread.get(key)))
    out = console()
    line(out, f"{found.device} ({found.kind}), torch {found.torch}, {found.threads} threads", "bold")
    out.print(table)
