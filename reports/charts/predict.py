"""Step time against batch, with the bends marked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boundby.analyzers.predict.forecast import Forecast


def draw_batches(run: Callable[[int], Forecast], told: Forecast, path: Path, *, suffix: str) -> None:
    """Draw the predicted step time over batches around the critical one and the largest that fits."""
    from matplotlib.figure import Figure

    top = max(told.batch, int(4 * told.critical_batch), told.max_batch or 1, 8)
    batches = sorted({max(1, round(top ** (i / 60))) for i in range(61)})
    points = [run(b) for b in batches]
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.add_subplot()
    axes.loglog(batches, [p.wall_us / 1e3 for p in points], color="#0b6bcb", label="step time")
    axes.axvline(
        told.critical_batch, color="#b35900", linestyle="--", label=f"critical batch {told.critical_batch:,.0f}"
    )
    if told.max_batch:
        axes.axvline(told.max_batch, color="#7a1fa2", linestyle=":", label=f"largest that fits {told.max_batch:,}")
    axes.plot([told.batch], [told.wall_us / 1e3], "o", color="#0b6bcb")
    axes.set_xlabel("batch (sequences)")
    axes.set_ylabel("milliseconds a step")
    axes.set_title(f"{told.phase} on {told.devices} x {told.device}, {told.context:,} tokens each")
    axes.grid(visible=True, which="both", alpha=0.2)
    axes.legend()
    figure.savefig(path, format=suffix.lstrip(".") or "svg")
