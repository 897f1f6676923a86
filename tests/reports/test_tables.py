from pathlib import Path

import polars as pl
import pytest
from example_analyses import contested, decode_mi300x, no_gpu_data, prefill_h100

from boundby.analyzers.errors import UsageError
from boundby.reports.parquet import write_parquet
from boundby.reports.tables import TABLES, frame


def test_phases_of_several_traces_stand_in_one_table() -> None:
    table = frame([prefill_h100(), decode_mi300x(), no_gpu_data()])
    assert table["bound"].to_list() == ["compute", "bandwidth", "unknown"]
    assert table["bandwidth_share"].to_list() == [0.22, 0.78, None]
    assert table["predicted_wall_us"].to_list() == [61_000.0, None, None]
    assert table["trace"][0] == "hf-qwen-prefill.pt.trace.json.gz"


def test_rows_carry_their_trace_and_phase_and_the_json_names() -> None:
    table = frame([prefill_h100()], "operators")
    assert table.columns[:4] == ["trace", "phase", "name", "part"]
    assert table.filter(pl.col("class") == "compute")["time_us"].sum() == 72_000.0
    assert table["kernel_names"].to_list()[0] == ["cutlass_80_tensorop_bf16_s16816gemm"]


@pytest.mark.parametrize("table", TABLES)
def test_a_table_without_rows_has_the_same_columns(table: str) -> None:
    assert frame([], table).schema == frame([prefill_h100(), decode_mi300x(), contested()], table).schema


def test_another_table_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="choose one of phases, operators"):
        frame([], "rows")


def test_parquet_is_a_folder_of_tables_or_a_file_of_phases(tmp_path: Path) -> None:
    write_parquet([prefill_h100()], tmp_path / "all")
    assert sorted(path.stem for path in (tmp_path / "all").iterdir()) == sorted(TABLES)
    assert pl.read_parquet(tmp_path / "all" / "kernels.parquet").height == 5
    write_parquet([prefill_h100(), contested()], tmp_path / "phases.parquet")
    assert pl.read_parquet(tmp_path / "phases.parquet").height == 2
