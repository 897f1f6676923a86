"""The table of known devices (devices.json), and which of them a trace ran on.

Matching goes from the surest to the least: the user's word, our recorder's own measurement, the device's exact name, then
processor count, memory and compute capability. Two rows that fit equally well and differ are no match: a wrong peak
makes a wrong label, and a missing one only an unlabelled roofline.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from boundby.tracer.marks import METADATA_KEY

from .device import Device
from .device_rows import Row, known_devices, plain, same_figures, source_of, words
from .errors import UsageError

if TYPE_CHECKING:
    import polars as pl

    from .trace import Header, TraceWarning

MEMORY_TOLERANCE = 0.06
"""totalGlobalMem against the vendor's label: firmware and ECC keep some, and labels mix GB with GiB."""


def find_device(text: str) -> Device:
    """The device that a user names: an id, a name, a part of one, or a JSON file of figures. Raises `UsageError`."""
    if text.endswith(".json"):
        return _from_file(Path(text))
    wanted = plain(text)
    rows = known_devices()
    exact = [r for r in rows if wanted in (plain(r.device.id), *map(plain, r.names))]
    found = exact or [r for r in rows if any(_part_of(text, name) for name in (r.device.id, *r.names))]
    if found and (len(found) == 1 or same_figures(found)):
        return msgspec.structs.replace(found[0].device, source=source_of("table", found[0]))
    if found:
        names = ", ".join(r.device.id for r in found)
        raise UsageError(f"device {text!r} may be any of {names}; name one of them")
    ids = [r.device.id for r in rows]
    near = difflib.get_close_matches(text.lower(), ids, n=3, cutoff=0.4)
    hint = f"did you mean {', '.join(near)}?" if near else "`boundby devices` lists them"
    raise UsageError(f"no device is called {text!r}; {hint} (a JSON file of its peaks works too)")


def _part_of(text: str, name: str) -> bool:
    """Every word of `text` begins a word of `name`, or the whole stands in it: "A100-80GB" is a part of both the SXM and the
    PCIe card's name, and so names neither."""
    wanted, there = words(text), words(name)
    whole = plain(text)
    return len(whole) >= 2 and (whole in plain(name) or all(any(n.startswith(w) for n in there) for w in wanted))


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
    if recorded is not None and recorded.kind == "cpu":
        return recorded, ()
    on_device = kernels is not None and kernels.height > 0
    properties = _properties(header, kernels, recorded)
    if properties is None and recorded is None:
        cpu = not on_device and not header.device_properties
        return (Device(name="CPU", kind="cpu") if cpu else _unknown("", header)), ()
    row, doubt = _match(properties or {})
    if recorded is not None and recorded.peak_tflops:
        return _completed(recorded, row), ()
    if row is None:
        return _unknown(str((properties or {}).get("name") or ""), header), (_doubtful(properties or {}, doubt),)
    known = msgspec.structs.replace(row.device, source=source_of("table", row))
    if recorded is not None:
        known = msgspec.structs.replace(known, smallest_kernel_ns=recorded.smallest_kernel_ns)
    return known, ()


def _doubtful(properties: Mapping[str, Any], doubt: str) -> TraceWarning:
    from .trace import TraceWarning

    name = str(properties.get("name") or "")
    what = f"device {name!r}" if name else "the device"
    return TraceWarning(
        "unknown-device", f"{what} is not told: {doubt}; pass --device NAME (`boundby devices`) for rooflines"
    )


def _completed(measured: Device, row: Row | None) -> Device:
    """What our recorder measured, and the table's figures for what it did not measure."""
    if row is None:
        return measured
    table = row.device
    extra = {unit: peak for unit, peak in table.peak_tflops.items() if unit not in measured.peak_tflops}
    taken = [*extra, *(["bandwidth"] if measured.bandwidth_gb_s is None and table.bandwidth_gb_s else [])]
    return msgspec.structs.replace(
        measured,
        id=table.id,
        peak_tflops={**measured.peak_tflops, **extra},
        bandwidth_gb_s=measured.bandwidth_gb_s or table.bandwidth_gb_s,
        memory_gb=measured.memory_gb or table.memory_gb,
        achievable_tflops=table.achievable_tflops,
        last_level_cache_mb=table.last_level_cache_mb,
        source=f"measured: from the table {', '.join(taken)}" if taken else "measured",
    )


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


def _properties(header: Header, kernels: pl.DataFrame | None, recorded: Device | None) -> Mapping[str, Any] | None:
    """The properties of the device that ran the kernels; without any, what our recorder wrote of it. All visible devices are
    listed, and on ROCm the kernels' device number is no id in that list: where all are alike it does not matter which."""
    listed = header.device_properties
    if not listed:
        memory = None if recorded is None or recorded.memory_gb is None else recorded.memory_gb * 1e9
        return None if recorded is None else {"name": recorded.name, "totalGlobalMem": memory}
    if _alike(listed):
        return listed[0]
    used = set(kernels["device"].drop_nulls().unique().to_list()) if kernels is not None else set()
    mine = [d for d in listed if d.get("id") in used]
    if _alike(mine):
        return mine[0]
    return {"name": "", "several": sorted({str(d.get("name") or "?") for d in listed})}


def _alike(listed: Sequence[Mapping[str, Any]]) -> bool:
    return len({(d.get("name"), d.get("totalGlobalMem"), d.get("numSms")) for d in listed}) == 1


def _match(properties: Mapping[str, Any]) -> tuple[Row | None, str]:
    rows = known_devices()
    if properties.get("several"):
        return None, f"the kernels may have run on any of {', '.join(properties['several'])}"
    name = plain(str(properties.get("name") or ""))
    named = [r for r in rows if name and name in map(plain, r.names)]
    fitting = [r for r in named if _fits(r, properties)]
    if fitting and (len(fitting) == 1 or same_figures(fitting)):
        return fitting[0], ""
    if named:
        return None, "its processor count or memory is not that of the whole device (a partition, or a virtual GPU)"
    told = [r for r in rows if _family(name, r)] if name else [r for r in rows if r.units is not None]
    fitting = [r for r in told if _fits(r, properties, strict=True)]
    if fitting and (len(fitting) == 1 or same_figures(fitting)):
        return fitting[0], ""
    if len(fitting) > 1:
        return None, f"it may be any of {', '.join(r.device.id for r in fitting)}"
    return None, "no row of the table has its name, or its memory and processor count"


def _family(name: str, row: Row) -> bool:
    """A shorter or longer spelling of the same name ("NVIDIA H100")."""
    return bool(name) and any(plain(n).startswith(name) or name.startswith(plain(n)) for n in row.names)


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


def _unknown(name: str, header: Header) -> Device:
    hip = any("hip" in key or "roc" in key for key in header.metadata)
    return Device(name=name, kind="hip" if hip else "cuda", source="unknown")
