"""One colour, one marker and one hatch a class of time, the same in every chart. The colours are Okabe and Ito's."""

from __future__ import annotations

COLOURS = {
    "compute": "#d55e00",
    "bandwidth": "#0072b2",
    "launch": "#e69f00",
    "communication": "#cc79a7",
    "transfer": "#009e73",
    "stall": "#56b4e9",
    "capacity": "#a03030",
    "unknown": "#8a8a8a",
}
MARKERS = {
    "compute": "^",
    "bandwidth": "o",
    "launch": "s",
    "communication": "D",
    "transfer": "v",
    "stall": "P",
    "capacity": "*",
    "unknown": "X",
}


def known(name: str) -> str:
    """`name` if it is a class of this version, else "unknown": what may stand in an attribute of the page."""
    return name if name in COLOURS else "unknown"


def colour(name: str) -> str:
    """The class's colour; that of "unknown" for a class this version doesn't know."""
    return COLOURS.get(name, COLOURS["unknown"])


def marker(name: str) -> str:
    """The class's marker, in matplotlib's letters."""
    return MARKERS.get(name, MARKERS["unknown"])
