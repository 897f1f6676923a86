"""The timeline of one step, as SVG paths (thousands of kernels in a few elements) and the data for its script."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..inert import inert
from .style import known

if TYPE_CHECKING:
    from boundby.analyzers.analysis import Timeline

LANE, GAP = 22, 4
"""Height of a lane and the space between two, in the drawing's units."""
WIDE = 1000.0
_HOST_FREE = {"dispatch": "dispatch", "stall": "stall"}


@dataclass(frozen=True)
class Drawing:
    """`paths`: (css class, path data); `lanes`: the names beside them, the gaps' lane first."""

    role: str
    step: int
    wall_us: float
    height: int
    lanes: tuple[str, ...]
    paths: tuple[tuple[str, str], ...]
    data: dict[str, Any]
    dropped: int


def draw_timeline(timeline: Timeline, *, most: int) -> Drawing:
    """The `most` longest items and gaps, in time order. x runs from 0 to 1000 over the step."""
    scale = WIDE / max(timeline.wall_us, 1e-9)
    items = sorted(sorted(timeline.items, key=lambda item: -item.dur_us)[:most], key=lambda item: item.start_us)
    gaps = sorted(sorted(timeline.gaps, key=lambda gap: -gap.dur_us)[:most], key=lambda gap: gap.start_us)
    paths: dict[str, list[str]] = defaultdict(list)
    for gap in gaps:
        paths[f"g-{_HOST_FREE.get(gap.cause, 'host')}"].append(_rect(gap.start_us * scale, 0, gap.dur_us * scale))
    for item in items:
        css = f"c-{known(item.bound_class)}" if item.own else "c-other"
        paths[css].append(_rect(item.start_us * scale, item.lane + 1, item.dur_us * scale))
    names = sorted({item.name for item in items})
    number = {name: n for n, name in enumerate(names)}
    data = {
        "wall": timeline.wall_us,
        "names": [inert(name, 120) for name in names],
        "items": [
            [item.lane + 1, round(item.start_us, 3), round(item.dur_us, 3), number[item.name], item.bound_class]
            for item in items
        ],
        "gaps": [[round(gap.start_us, 3), round(gap.dur_us, 3), gap.cause] for gap in gaps],
    }
    return Drawing(
        role=timeline.role,
        step=timeline.step,
        wall_us=timeline.wall_us,
        height=(len(timeline.lanes) + 1) * (LANE + GAP),
        lanes=("idle", *timeline.lanes),
        paths=tuple((css, "".join(parts)) for css, parts in paths.items()),
        data=data,
        dropped=timeline.dropped + len(timeline.items) - len(items),
    )


def _rect(x: float, lane: int, width: float) -> str:
    return f"M{x:.2f} {lane * (LANE + GAP)}h{width:.2f}v{LANE}h{-width:.2f}z"
