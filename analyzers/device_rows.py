"""`Row`: one device of the table (devices.json), and how names of devices are compared."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from .device import Device


class Row(msgspec.Struct, frozen=True):
    """One device of the table. `names` are those that Kineto writes, `units` its SMs or CUs."""

    device: Device
    names: tuple[str, ...]
    units: int | None
    capability: tuple[int, int] | None
    memory_options: tuple[float, ...]
    uncertain: tuple[str, ...]


@cache
def known_devices() -> tuple[Row, ...]:
    """Every row of devices.json."""
    raw = json.loads(Path(__file__).with_name("devices.json").read_text("utf-8"))
    return tuple(_row(entry) for entry in raw["devices"])


def _row(entry: dict[str, Any]) -> Row:
    memory = entry["memory_gb"]["value"] if entry.get("memory_gb") else None
    figures = {**entry["peak_tflops"], "bandwidth": entry.get("bandwidth_gb_s"), "memory": entry.get("memory_gb")}
    cache_mb = entry.get("last_level_cache_mb")
    return Row(
        device=Device(
            name=entry["names"][0],
            kind=entry["kind"],
            id=entry["id"],
            peak_tflops={k: float(v["value"]) for k, v in entry["peak_tflops"].items()},
            bandwidth_gb_s=entry["bandwidth_gb_s"]["value"] if entry.get("bandwidth_gb_s") else None,
            memory_gb=memory,
            achievable_tflops={k: float(v["value"]) for k, v in entry.get("achievable_tflops", {}).items()},
            last_level_cache_mb=cache_mb["value"] if cache_mb else None,
            source="table",
        ),
        names=tuple(entry["names"]),
        units=entry.get("units"),
        capability=tuple(entry["compute_capability"]) if entry.get("compute_capability") else None,
        memory_options=tuple(entry.get("memory_options_gb", [memory] if memory else [])),
        uncertain=tuple(name for name, figure in figures.items() if figure and figure.get("uncertain")),
    )


def same_figures(rows: Sequence[Row]) -> bool:
    """It does not matter which of the rows it is."""
    first = rows[0].device
    return all(
        (r.device.peak_tflops, r.device.bandwidth_gb_s, r.device.memory_gb)
        == (first.peak_tflops, first.bandwidth_gb_s, first.memory_gb)
        for r in rows
    )


def source_of(kind: str, row: Row) -> str:
    """A device's `source`: where its figures are from, and which of them are doubtful."""
    if not row.uncertain:
        return kind
    return f"{kind}: uncertain for {', '.join(row.uncertain)}"


def plain(text: str) -> str:
    """Without case, vendor and brand words, and punctuation: what people leave out when they name a device."""
    return "".join(words(text))


def words(text: str) -> list[str]:
    """The words of a device's name that tell it from others."""
    text = re.sub(r"\((r|tm)\)|™|®", " ", text.lower())
    text = re.sub(r"\b(nvidia|amd|intel|google|geforce|instinct|tesla|graphics)\b", " ", text)
    return re.findall(r"[a-z0-9]+", text)
