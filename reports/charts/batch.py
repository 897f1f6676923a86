"""Which labels the phases of a batch have, by device."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..inert import inert
from .style import colour, known
from .svg import inline_svg

MOST_DEVICES = 10


def regimes_by_device(rows: list[dict[str, Any]]) -> str:
    """Stacked bars: phases by label, one bar a device (the commonest ten)."""
    told = [row for row in rows if row["phase"]]
    devices = [
        name for name, _ in Counter(str(row["device"] or "unknown device") for row in told).most_common(MOST_DEVICES)
    ]
    counts = Counter((str(row["device"] or "unknown device"), known(row["bound"])) for row in told)
    labels = sorted({label for _, label in counts})
    if not devices:
        return ""

    def draw(ax: Any) -> None:
        left = [0] * len(devices)
        for label in labels:
            widths = [counts[device, label] for device in devices]
            ax.barh(range(len(devices)), widths, left=left, color=colour(label), edgecolor="#ffffff", label=label)
            left = [a + b for a, b in zip(left, widths, strict=True)]
        ax.set_yticks(range(len(devices)), [inert(device, 40) for device in devices])
        ax.invert_yaxis()
        ax.set_xlabel("phases")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=4, frameon=False)

    size = (8.4, 1.6 + 0.35 * len(devices))
    return inline_svg(draw, size=size, prefix="regimes", title="Phases by label and device", links={})
