"""A forecast on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from rich.table import Table
from rich.text import Text

from . import units
from .inert import inert
from .terminal import console

if TYPE_CHECKING:
    from boundby.analyzers.device import Device
    from boundby.analyzers.predict.forecast import Forecast


def print_forecast(told: Forecast, device: Device, *, file: TextIO | None = None) -> None:
    """Print a prediction: the verdict, the parts, what fits."""
    out = console(file)
    many = f"{told.devices} x " if told.devices > 1 else ""
    lines = [
        f"{many}{device.name}: {units.flop_rate(device.peak_tflops.get(told.unit))} in {told.unit}, "
        f"{units.byte_rate(device.bandwidth_gb_s)}, ridge {told.ridge:,.1f} FLOP/byte",
        f"{told.phase.upper()} {told.bound}-bound: {units.duration(told.wall_us)} a step at batch {told.batch}, "
        f"{told.context:,} tokens each; {told.tokens_per_s:,.4g} tokens/s",
        f"textbook step time {units.duration(told.reference_us)}; critical batch {told.critical_batch:,.1f} tokens a step",
        f"memory {units.size(told.memory_bytes)} (weights {units.size(told.weight_bytes)}, cache {units.size(told.kv_bytes)}, "
        f"{units.size(told.kv_bytes_per_token)} a token)" + _room(told),
    ]
    for line in (*lines, *told.notes):
        out.print(Text(inert(line)), soft_wrap=True)
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    for head in ("part", "bound", "time", "share", "FLOP", "bytes", "FLOP/B", "textbook"):
        table.add_column(head, justify="left" if head in ("part", "bound") else "right", no_wrap=True)
    for part in told.parts:
        table.add_row(
            part.part,
            part.bound,
            units.duration(part.time_us),
            units.percent(part.share),
            units.scaled(part.flops, ""),
            units.scaled(part.bytes, ""),
            units.UNKNOWN if part.intensity is None else f"{part.intensity:,.4g}",
            units.UNKNOWN if part.textbook_intensity is None else f"{part.textbook_intensity:,.4g}",
        )
    out.print(table)


def _room(told: Forecast) -> str:
    if told.capacity_bytes is None:
        return ""
    room = f" of {units.size(told.capacity_bytes)}"
    if told.max_batch is not None and told.max_context is not None:
        room += f"; fits up to batch {told.max_batch:,} at this context, context {told.max_context:,} at this batch"
    return room
