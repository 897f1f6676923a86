"""Which device a trace ran on; and that the table's figures hold together."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tracebuild import make_trace

from boundby.analyzers import device_table
from boundby.analyzers.device_table import find_device, known_devices, resolve_device
from boundby.analyzers.errors import UsageError
from boundby.analyzers.trace import Header

TABLE = json.loads(Path(device_table.__file__).with_name("devices.json").read_text("utf-8"))
DEVICES = TABLE["devices"]
MI300X = {
    "name": "AMD Instinct MI300X",
    "totalGlobalMem": 206141652992,
    "numSms": 304,
    "computeMajor": 9,
    "computeMinor": 4,
}
H100 = {
    "name": "NVIDIA H100 80GB HBM3",
    "totalGlobalMem": 85_030_000_000,
    "numSms": 132,
    "computeMajor": 9,
    "computeMinor": 0,
}
KERNELS = make_trace(kernels=[{}]).kernels


def resolved(*properties: dict[str, Any], **given: Any) -> str:
    device, _ = resolve_device(Header(device_properties=properties), kernels=KERNELS, **given)
    return device.id


@pytest.mark.parametrize("entry", DEVICES, ids=lambda e: e["id"])
def test_every_figure_has_a_source(entry: dict[str, Any]) -> None:
    figures = [*entry["peak_tflops"].values(), entry["bandwidth_gb_s"], entry["memory_gb"]]
    figures += [*entry.get("achievable_tflops", {}).values()]
    for figure in filter(None, figures):
        assert figure["value"] > 0
        assert figure["source"]


@pytest.mark.parametrize(
    "entry", [e for e in DEVICES if re.match(r"\d+ x \d+ x [\d.]+ GHz", e.get("derivation", ""))], ids=lambda e: e["id"]
)
def test_sixteen_bit_peaks_are_units_times_rate_times_clock(entry: dict[str, Any]) -> None:
    units, rate, clock = re.match(r"(\d+) x (\d+) x ([\d.]+) GHz", entry["derivation"]).groups()  # type: ignore[union-attr]
    peak = entry["peak_tflops"].get("bf16") or entry["peak_tflops"]["fp16"]
    assert int(units) * int(rate) * float(clock) / 1000 == pytest.approx(peak["value"], rel=0.02)
    assert int(units) == entry["units"]


@pytest.mark.parametrize(
    ("name", "ridge"),
    [("h100-sxm", 295), ("h200-sxm", 206), ("mi300x", 247), ("a100-sxm-80", 153), ("l4", 403), ("tpu-v5e", 240.5)],
)
def test_ridge_points(name: str, ridge: float) -> None:
    device = find_device(name)
    assert device.peak_tflops["bf16"] * 1e3 / (device.bandwidth_gb_s or 0) == pytest.approx(ridge, rel=0.005)


def test_an_exact_name_is_known() -> None:
    assert resolved(H100) == "h100-sxm"


def test_an_empty_name_is_told_by_memory_and_processors() -> None:
    assert resolved({**MI300X, "name": ""}) == "mi300x"


def test_a_partition_is_not_taken_for_the_whole() -> None:
    device, warnings = resolve_device(Header(device_properties=({**MI300X, "numSms": 38},)), kernels=KERNELS)
    assert (device.id, device.peak_tflops, device.bandwidth_gb_s) == ("", {}, None)
    assert [w.code for w in warnings] == ["unknown-device"]


def test_a_virtual_gpu_under_the_bare_family_name_is_not_guessed() -> None:
    assert resolved({**H100, "name": "NVIDIA H100", "totalGlobalMem": 21_000_000_000, "numSms": 32}) == ""


def test_the_bare_family_name_with_the_whole_devices_sizes_is_known() -> None:
    assert resolved({**H100, "name": "NVIDIA H100"}) == "h100-sxm"


def test_two_kinds_of_device_are_not_guessed_between() -> None:
    assert resolved({**H100, "id": 0}, {**MI300X, "id": 1}) in ("h100-sxm", "")
    assert resolved({**H100, "id": 5}, {**MI300X, "id": 6}) == ""


def test_the_users_word_wins() -> None:
    device, _ = resolve_device(Header(device_properties=(H100,)), override="mi300x", kernels=KERNELS)
    assert (device.id, device.source) == ("mi300x", "user: table")


def test_a_file_of_peaks_serves_as_a_device(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text('{"peak_tflops": {"bf16": 100}, "bandwidth_gb_s": 500}')
    device = find_device(str(file))
    assert (device.name, device.peak_tflops, device.bandwidth_gb_s, device.source) == (
        "mine",
        {"bf16": 100},
        500,
        "user",
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("h100", "may be any of h100-sxm, h100-pcie, h100-nvl"),
        ("h100-smx", "did you mean h100-sxm"),
        ("zzz", "boundby devices"),
        ("no.json", "cannot be read"),
    ],
)
def test_a_name_that_tells_no_device_is_answered_with_a_remedy(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        find_device(text)


def test_names_are_told_apart_from_each_other() -> None:
    ids = [row.device.id for row in known_devices()]
    assert len(ids) == len(set(ids))
    names = [name.lower() for row in known_devices() for name in row.names]
    assert len(names) == len(set(names))


def test_ids_are_taken_whatever_their_case_and_punctuation() -> None:
    assert {find_device(text).id for text in ("MI300X", "amd instinct mi300x", "mi-300x")} == {"mi300x"}


def test_a_trace_without_device_events_or_properties_ran_on_a_cpu() -> None:
    device, _ = resolve_device(Header(), kernels=make_trace().kernels)
    assert (device.kind, device.peak_tflops) == ("cpu", {})
