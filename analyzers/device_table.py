"""The table of known devices (devices.json), and which of them a trace ran on.

Matching goes from the surest to the least: the user's word, our recorder's own measurement, the device's exact name, then
processor count, memory and compute capability. Two rows that fit equally well and differ are no match: a wrong peak
makes a wrong label, and a missing one only an unlabelled roofline.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from boundby.tracer.marks import METADATA_KEY

from .device import Device
from .errors import UsageError
from .trace import Header, TraceWarning

MEMORY_TOLERANCE = 0.06
"""totalGlobalMem against the vendor's label: firmware and ECC keep some, and labels mix GB with GiB."""


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


def find_device(text: str) -> Device:
    """The device that a user names: an id, a name, a part of one, or a JSON file of figures. Raises `UsageError`."""
    if text.endswith(".json"):
        return _from_file(Path(text))
    wanted = _plain(text)
    rows = known_devices()
    exact = [r for r in rows if wanted in (_plain(r.device.id), *map(_plain, r.names))]
    partial = [r for r in rows if any(wanted in _plain(n) for n in (r.device.id, *r.names))] if len(wanted) >= 2 else []
    found = exact or partial
    if found and (len(found) == 1 or _same_figures(found)):
        return msgspec.structs.replace(found[0].device, source=_source("table", found[0]))
    if found:
        names = ", ".join(r.device.id for r in found)
        raise UsageError(f"device {text!r} may be any of {names}; name one of them")
    ids = [r.device.id for r in rows]
    near = difflib.get_close_matches(text.lower(), ids, n=3, cutoff=0.4)
    hint = f"did you mean {', '.join(near)}?" if near else "`boundby devices` lists them"
    raise UsageError(f"no device is called {text!r}; {hint} (a JSON file of its peaks works too)")


def _from_file(path: Path) -> Device:
    try:
        given = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
        return msgspec.convert({"name": path.stem, "kind": "cuda", **given, "source": "user"}, Device)
    except OSError as error:
        raise UsageError(f"device file {path}: cannot be read ({error.strerror or error})") from None
    except msgspec.MsgspecError as error:
        raise UsageError(
            f'device file {path}: {error}; it holds e.g. {{"name": "X", "peak_tflops": {{"bf16": 989}}, "bandwidth_gb_s": 3350}}'
        ) from None


def resolve_device(
    header: Header, *, override: str | None = None, kernels: pl.DataFrame | None = None
) -> tuple[Device, tuple[TraceWarning, ...]]:
    """The device that a trace ran on, and what is doubtful about it. Raises `UsageError` for an unknown `override`."""
    if override is not None:
        device = find_device(override)
        kind = "user" if device.source == "user" else f"user: {device.source}"
        return msgspec.structs.replace(device, source=kind), ()
    recorded = _recorded(header)
    on_device = kernels is not None and kernels.height > 0
    if recorded is not None and (recorded.peak_tflops or recorded.kind == "cpu"):
        return recorded, ()
    properties = _properties(header, kernels)
    if properties is None:
        if not on_device and not header.device_properties:
            return Device(name="CPU", kind="cpu", source="unknown"), ()
        return _unknown("", header), ()
    row, doubt = _match(properties)
    if row is None:
        name = str(properties.get("name") or "")
        what = f"device {name!r}" if name else "the device"
        message = f"{what} is not told: {doubt}; pass --device NAME (`boundby devices`) for rooflines"
        return _unknown(name, header), (TraceWarning("unknown-device", message),)
    return msgspec.structs.replace(row.device, source=_source("table", row)), ()


def _recorded(header: Header) -> Device | None:
    raw = header.metadata.get(METADATA_KEY)
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except ValueError:
            return None
    if not isinstance(raw, dict) or not isinstance(raw.get("device"), dict):
        return None
    device, measured = raw["device"], raw.get("calibration") or {}
    peaks = measured.get("peak_tflops") or {}
    floor = measured.get("smallest_kernel_us")
    memory = device.get("memory_bytes")
    return Device(
        name=str(device.get("name", "")),
        kind=str(device.get("kind", "cpu")),
        peak_tflops={str(k): float(v) for k, v in peaks.items() if isinstance(v, (int, float)) and v > 0},
        bandwidth_gb_s=_positive(measured.get("bandwidth_gb_s")),
        memory_gb=memory / 1e9 if isinstance(memory, (int, float)) and memory > 0 else None,
        smallest_kernel_ns=round(floor * 1000) if isinstance(floor, (int, float)) and floor > 0 else 2000,
        source="measured" if peaks else "unknown",
    )


def _positive(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and value > 0 else None


def _properties(header: Header, kernels: pl.DataFrame | None) -> Mapping[str, Any] | None:
    """The properties of the device that ran the kernels. All visible devices are listed, and on ROCm the kernels' device
    number is no id in that list: where all are alike it does not matter which."""
    listed = header.device_properties
    if not listed:
        return None
    kinds = {(d.get("name"), d.get("totalGlobalMem"), d.get("numSms")) for d in listed}
    if len(kinds) == 1:
        return listed[0]
    used = set(kernels["device"].drop_nulls().unique().to_list()) if kernels is not None else set()
    mine = [d for d in listed if d.get("id") in used]
    alike = {(d.get("name"), d.get("totalGlobalMem"), d.get("numSms")) for d in mine}
    return mine[0] if len(alike) == 1 else None


def _match(properties: Mapping[str, Any]) -> tuple[Row | None, str]:
    rows = known_devices()
    name = _plain(str(properties.get("name") or ""))
    named = [r for r in rows if name and name in map(_plain, r.names)]
    fitting = [r for r in named if _fits(r, properties)]
    if fitting and (len(fitting) == 1 or _same_figures(fitting)):
        return fitting[0], ""
    if named:
        return None, "its processor count or memory is not that of the whole device (a partition, or a virtual GPU)"
    told = [r for r in rows if _family(name, r)] if name else [r for r in rows if r.units is not None]
    fitting = [r for r in told if _fits(r, properties, strict=True)]
    if fitting and (len(fitting) == 1 or _same_figures(fitting)):
        return fitting[0], ""
    if len(fitting) > 1:
        return None, f"it may be any of {', '.join(r.device.id for r in fitting)}"
    return None, "no row of the table has its name, or its memory and processor count"


def _family(name: str, row: Row) -> bool:
    """A shorter or longer spelling of the same name ("NVIDIA H100")."""
    return bool(name) and any(_plain(n).startswith(name) or name.startswith(_plain(n)) for n in row.names)


def _fits(row: Row, properties: Mapping[str, Any], *, strict: bool = False) -> bool:
    """Processor count, memory and capability agree with a row; `strict` wants the first two to be there."""
    units, memory = properties.get("numSms"), properties.get("totalGlobalMem")
    capability = (properties.get("computeMajor"), properties.get("computeMinor"))
    if strict and not (units and memory):
        return False
    if units and row.units and int(units) != row.units:
        return False
    if memory and row.memory_options:
        size = float(memory) / 1e9
        near = [m for m in row.memory_options if _near(size, m)]
        if not near:
            return False
    nvidia = row.device.kind == "cuda"
    return not (nvidia and row.capability and None not in capability and capability != row.capability)


def _near(size: float, label: float) -> bool:
    return min(abs(size / label - 1), abs(size / (label * 1.073741824) - 1)) <= MEMORY_TOLERANCE


def _same_figures(rows: Sequence[Row]) -> bool:
    first = rows[0].device
    return all(
        (r.device.peak_tflops, r.device.bandwidth_gb_s, r.device.memory_gb)
        == (first.peak_tflops, first.bandwidth_gb_s, first.memory_gb)
        for r in rows
    )


def _source(kind: str, row: Row) -> str:
    if not row.uncertain:
        return kind
    return f"{kind}: uncertain for {', '.join(row.uncertain)}"


def _unknown(name: str, header: Header) -> Device:
    hip = any("hip" in key or "roc" in key for key in header.metadata)
    return Device(name=name, kind="hip" if hip else "cuda", source="unknown")


def _plain(text: str) -> str:
    """Without case, vendor and brand words, and punctuation: what people leave out when they name a device."""
    text = re.sub(r"\((r|tm)\)|™|®", " ", text.lower())
    text = re.sub(r"\b(nvidia|amd|intel|google|geforce|instinct|tesla|graphics)\b", " ", text)
    return re.sub(r"[^a-z0-9]+", "", text)
