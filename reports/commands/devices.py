"""`boundby devices`: the table of known devices."""

from __future__ import annotations

import sys
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command("devices")(devices)


def devices(
    json: Annotated[
        bool, typer.Option("--json", help="Print the table as JSON, with the source of every figure.")
    ] = False,
) -> None:
    """List the devices whose peaks are known: dense peaks in TFLOP/s, bandwidth, memory. ~ marks an uncertain figure."""
    if json:
        from importlib.resources import files

        sys.stdout.write(files("boundby.analyzers").joinpath("devices.json").read_text("utf-8") + "\n")
        return
    from rich.table import Table

    from boundby.analyzers.device_rows import known_devices

    from ..terminal import console

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for head in ("id", "bf16", "fp16", "fp8", "fp32", "GB/s", "GB"):
        table.add_column(head, justify="left" if head == "id" else "right", no_wrap=True)
    for row in known_devices():
        device = row.device

        def cell(name: str, value: float | None, row: object = row) -> str:
            mark = "~" if name in getattr(row, "uncertain", ()) else ""
            return "–" if value is None else f"{mark}{value:,g}"

        peaks = [cell(unit, device.peak_tflops.get(unit)) for unit in ("bf16", "fp16", "fp8", "fp32")]
        table.add_row(device.id, *peaks, cell("bandwidth", device.bandwidth_gb_s), cell("memory", device.memory_gb))
    console().print(table)
