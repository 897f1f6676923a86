"""Which device a trace ran on; and that the table's figures hold together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tracebuild import make_trace

from boundby.analyzers import device_table
from boundby.analyzers.device_rows import known_devices
from boundby.analyzers.device_table import find_device, resolve_device
from boundby.analyzers.errors import UsageError
from boundby.analyzers.trace import Header
from boundby.tracer.marks import METADATA_KEY

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
    figures += [*entry.get("achievable_tflops", {}).values(), *filter(None, [entry.get("last_level_cache_mb")])]
    for figure in figures:
        assert figure["value"] > 0
        assert figure["source"] in TABLE["sources"]
        assert figure["source"] != "memory" or figure["uncertain"]


@pytest.mark.parametrize("entry", [e for e in DEVICES if e.get("derivation")], ids=lambda e: e["id"])
def test_peaks_are_units_times_rate_times_clock(entry: dict[str, Any]) -> None:
    told = entry["derivation"]
    for unit, rate in told["rates"].items():
        clock = told.get("clocks_ghz", {}).get(unit, told["clock_ghz"])
        assert entry["units"] * rate * clock / 1000 == pytest.approx(entry["peak_tflops"][unit]["value"], rel=0.02), (
            unit
        )


@pytest.mark.parametrize("entry", [e for e in DEVICES if e["kind"] in ("cuda", "hip")], ids=lambda e: e["id"])
def test_a_peak_that_cannot_be_derived_is_marked_uncertain(entry: dict[str, Any]) -> None:
    for unit, figure in entry["peak_tflops"].items():
        assert unit in entry["derivation"]["rates"] or figure.get("uncertain"), unit


@pytest.mark.parametrize("entry", DEVICES, ids=lambda e: e["id"])
def test_no_measured_rate_exceeds_the_peak(entry: dict[str, Any]) -> None:
    for unit, figure in entry.get("achievable_tflops", {}).items():
        assert figure["value"] < entry["peak_tflops"][unit]["value"]


@pytest.mark.parametrize(
    ("name", "ridge"),
    [
        ("h100-sxm", 295),
        ("h200-sxm", 206),
        ("mi300x", 247),
        ("a100-sxm-80", 153),
        ("l4", 403),
        ("tpu-v5e", 240.5),
        ("h20", 37),
    ],
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


def test_of_two_kinds_of_device_the_one_that_ran_the_kernels_is_taken() -> None:
    assert set(KERNELS["device"].to_list()) == {0}
    assert resolved({**H100, "id": 0}, {**MI300X, "id": 1}) == "h100-sxm"
    assert resolved({**H100, "id": 1}, {**MI300X, "id": 0}) == "mi300x"


def test_two_kinds_of_device_without_the_one_that_ran_are_not_guessed_between() -> None:
    device, warnings = resolve_device(
        Header(device_properties=({**H100, "id": 5}, {**MI300X, "id": 6})), kernels=KERNELS
    )
    assert (device.id, device.peak_tflops) == ("", {})
    assert "any of AMD Instinct MI300X, NVIDIA H100 80GB HBM3" in warnings[0].message


@pytest.mark.parametrize(
    ("units", "memory", "known"),
    [(110, 68_702_699_520, "mi250x"), (104, 68_702_699_520, "mi250"), (104, 206_141_652_992, "")],
)
def test_a_name_that_two_parts_share_is_told_by_their_processors(units: int, memory: int, known: str) -> None:
    name = "AMD Instinct MI250X/MI250"
    assert resolved({**MI300X, "name": name, "numSms": units, "totalGlobalMem": memory}) == known


def test_a_mig_slice_is_not_taken_for_the_whole() -> None:
    # A 1g.10gb slice of an H100 has 16 of its 132 SMs.
    assert resolved({**H100, "name": "NVIDIA H100 80GB HBM3 MIG 1g.10gb", "numSms": 16, "totalGlobalMem": 10e9}) == ""
    assert resolved({**H100, "numSms": 16, "totalGlobalMem": 10e9}) == ""


def recorded(**calibration: Any) -> Header:
    """A recording on an H100 whose calibration is given."""
    told = {"device": {"name": H100["name"], "kind": "cuda", "memory_bytes": 85e9}, "calibration": calibration}
    return Header(device_properties=(H100,), metadata={METADATA_KEY: json.dumps(told)})


def test_a_measured_peak_goes_before_the_tables_and_the_table_fills_what_was_not_measured() -> None:
    header = recorded(peak_tflops={"bf16": 700.0}, bandwidth_gb_s=3000.0, smallest_kernel_us=1.5)
    device, _ = resolve_device(header, kernels=KERNELS)
    assert (device.id, device.bandwidth_gb_s, device.smallest_kernel_ns) == ("h100-sxm", 3000.0, 1500)
    assert (device.peak_tflops["bf16"], device.peak_tflops["fp8"]) == (700.0, 1978.9)
    assert device.source.startswith("measured: from the table ")
    assert "fp8" in device.source
    assert "bf16" not in device.source


def test_a_recording_without_calibration_is_told_by_the_table() -> None:
    device, _ = resolve_device(recorded(smallest_kernel_us=1.5), kernels=KERNELS)
    assert (device.id, device.peak_tflops["bf16"], device.source) == ("h100-sxm", 989.4, "table")
    assert device.smallest_kernel_ns == 1500


def test_a_recording_tells_its_device_where_the_trace_lists_none() -> None:
    header = Header(metadata=recorded().metadata)
    assert resolve_device(header, kernels=KERNELS)[0].id == "h100-sxm"


def test_a_cpu_recording_has_the_peaks_that_were_measured_and_no_others() -> None:
    told = {
        "device": {"name": "A CPU", "kind": "cpu"},
        "calibration": {"peak_tflops": {"fp32": 0.2}, "bandwidth_gb_s": 22.0},
    }
    device, _ = resolve_device(Header(metadata={METADATA_KEY: told}), kernels=make_trace().kernels)
    assert (device.kind, device.peak_tflops, device.source) == ("cpu", {"fp32": 0.2}, "measured")


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
        ("A100-80GB", "may be any of a100-sxm-80, a100-pcie-80"),
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
    told = [(name.lower(), row.units) for row in known_devices() for name in row.names]
    assert len(told) == len(set(told))


def test_ids_are_taken_whatever_their_case_and_punctuation() -> None:
    assert {find_device(text).id for text in ("MI300X", "amd instinct mi300x", "mi-300x")} == {"mi300x"}


def test_a_trace_without_device_events_or_properties_ran_on_a_cpu() -> None:
    device, _ = resolve_device(Header(), kernels=make_trace().kernels)
    assert (device.kind, device.peak_tflops) == ("cpu", {})
