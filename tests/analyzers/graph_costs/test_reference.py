"""Costs of replayed kernels from a trace in which the same kernels ran under ops with shapes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from graphreplay import ACT, ATTEND, BEFORE, GEMM, HEAD, NORM, ROPE, WRITE, replay
from tracebuild import make_trace

from boundby.analyzers.analysis import OperatorRow
from boundby.analyzers.analyze import analyze_trace
from boundby.analyzers.errors import UsageError
from boundby.analyzers.graph_costs.reference import Reference, occurrences, read_references, reference_of
from boundby.analyzers.trace import Trace

LAYER = (NORM, GEMM, ACT, GEMM)
BF16 = "c10::BFloat16"


def eager(tokens: int, names: Sequence[str] = LAYER, *, width: int = 1024) -> Trace:
    """The kernels of LAYER with an op around each launch: a norm of 512, [512, 2 width], a gated activation, [width, 512]."""
    shapes = {
        0: ("_C::rms_norm", ((tokens, 512), (tokens, 512), (512,), ())),
        1: ("aten::mm", ((tokens, 512), (512, 2 * width))),
        2: ("_C::silu_and_mul", ((tokens, width), (tokens, 2 * width))),
        3: ("aten::mm", ((tokens, width), (width, 512))),
    }
    ops: list[dict[str, Any]] = []
    launches, kernels = [], []
    for at, name in enumerate(names):
        op, dims = shapes[at]
        begin = 1_000 * (at + 1)
        types = tuple(BF16 if d else "Scalar" for d in dims)
        ops.append({"name": op, "ts_ns": begin, "dur_ns": 500, "dims": dims, "types": types})
        launches.append({"ts_ns": begin + 100, "dur_ns": 100, "correlation": 50 + at})
        kernels.append({"name": name, "ts_ns": 10_000 * (at + 1), "dur_ns": 5_000, "correlation": 50 + at})
    return make_trace(ops=ops, launches=launches, kernels=kernels)


def reference(trace: Trace, *, capture: bool = False) -> Reference:
    found = reference_of(trace, capture=capture)
    assert found is not None
    return found


def rows(*references: Reference, batch: int = 4, names: Sequence[str] = LAYER * 2) -> dict[str, OperatorRow]:
    (phase,) = analyze_trace(replay(names, batch=batch), references=references).phases
    return {f"{row.name} {row.shapes}".strip(): row for row in phase.operators}


UP, DOWN = "aten::mm (graph) [4,512] [512,2048] BFloat16", "aten::mm (graph) [4,1024] [1024,512] BFloat16"


def test_a_run_of_the_same_kernels_takes_the_recorded_costs() -> None:
    found = rows(reference(two_layers(4)))
    up = found[UP]
    assert (up.count, up.flops, up.bytes, up.known_by) == (
        2,
        2 * 2 * 4 * 512 * 2048,
        2 * 2 * (512 * 2048 + 4 * 2560),
        "shapes",
    )
    assert found[DOWN].flops == 2 * 2 * 4 * 1024 * 512


def test_a_run_that_did_not_happen_there_takes_nothing() -> None:
    assert not any("(graph)" in name for name in rows(reference(eager(4))))


def two_layers(tokens: int) -> Trace:
    one = eager(tokens)
    return joined(one, one, shift=100_000)


def joined(first: Trace, second: Trace, *, shift: int) -> Trace:
    """The second trace's rows behind the first's."""

    def both(trace: Trace, by: int) -> dict[str, list[dict[str, Any]]]:
        frames = {"ops": trace.ops, "launches": trace.launches, "kernels": trace.kernels}
        rows = {kind: frame.to_dicts() for kind, frame in frames.items()}
        for kind in rows:
            for row in rows[kind]:
                row["ts_ns"] += by
                if kind != "ops":
                    row["correlation"] += by
                row.pop("args", None)
        for row in rows["ops"]:
            signature = trace.signatures[row.pop("signature")]
            row |= {"dims": signature.dims, "types": signature.types}
        return rows

    one, two = both(first, 0), both(second, shift)
    return make_trace(**{kind: [*one[kind], *two[kind]] for kind in one})


def test_other_tokens_keep_the_weights_and_scale_the_rest() -> None:
    found = rows(reference(two_layers(8)), batch=4)
    up = next(row for name, row in found.items() if "[512,2048]" in name)
    assert up.flops == 2 * 2 * 4 * 512 * 2048
    assert up.bytes == pytest.approx(2 * 2 * (512 * 2048 + 4 * 2560))
    act = next(row for name, row in found.items() if "silu_and_mul" in name)
    assert act.bytes == pytest.approx(2 * 4 * 3 * 1024 * 2)


def test_a_capture_is_taken_at_its_own_size() -> None:
    # 3 sequences replay the graph captured for 4, which computes 4 rows; that for 8 is not theirs.
    captures = [reference(two_layers(n), capture=True) for n in (8, 4)]
    found = rows(reference(joined(two_layers(8), two_layers(4), shift=1_000_000), capture=True), batch=3)
    assert found[UP].flops == 2 * 2 * 4 * 512 * 2048
    assert not any("(graph)" in name for name in rows(captures[0], batch=3))


def test_runs_that_differ_tell_nothing() -> None:
    other = joined(two_layers(4), joined(eager(4, width=2048), eager(4, width=2048), shift=100_000), shift=1_000_000)
    assert not any("(graph)" in name for name in rows(reference(other)))


def test_attention_is_never_taken() -> None:
    names = (*BEFORE, ATTEND, GEMM)
    kernels = [{"name": n, "ts_ns": 10_000 * (i + 1), "correlation": 50 + i} for i, n in enumerate(names)]
    shapes = {
        1: ("aten::mm", ((4, 512), (512, 768))),
        4: ("aten::_scaled_dot_product_flash_attention", ((4, 8, 1, 64),) * 3),
        5: ("aten::mm", ((4, 512), (512, 512))),
    }
    ops = [
        {"name": op, "ts_ns": 1_000 * (i + 1), "dur_ns": 500, "dims": dims, "types": (BF16,) * len(dims)}
        for i, (op, dims) in shapes.items()
    ]
    launches = [{"ts_ns": 1_000 * (i + 1) + 100, "dur_ns": 100, "correlation": 50 + i} for i in range(len(names))]
    found = rows(reference(make_trace(ops=ops, launches=launches, kernels=kernels)), names=names)
    assert found["aten::mm (graph) [4,512] [512,768] BFloat16"].flops == 2 * 4 * 512 * 768
    assert not any("attention" in name and row.flops for name, row in found.items())
    assert {ROPE, WRITE, HEAD}.isdisjoint(found)


def test_occurrences_are_runs_of_whole_names() -> None:
    assert occurrences("abcabcab", "ab") == [0, 3, 6]
    assert occurrences("aaaa", "aa") == [0, 1, 2]
    assert occurrences("abc", "ca") == []


def test_a_trace_without_shapes_is_no_reference(tmp_path: Path) -> None:
    empty = tmp_path / "captures"
    empty.mkdir()
    with pytest.raises(UsageError, match="holds no trace"):
        read_references([str(empty)], capture=True)
    assert reference_of(replay(LAYER), capture=False) is None
