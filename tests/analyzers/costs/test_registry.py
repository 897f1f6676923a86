"""Who prices which op, and what happens to input that no formula can use."""

from __future__ import annotations

from typing import Any

import pytest
from costcalls import FP32, T, call
from hypothesis import given, settings
from hypothesis import strategies as st

from boundby.analyzers.costs import (
    Call,
    cost_of,
    costs_of,
    formula,
    formula_names,
    free_names,
    is_free,
    prevailing_dtype,
)
from boundby.analyzers.costs.registry import TwoClaims, find, free


def test_a_second_claim_on_an_op_raises() -> None:
    with pytest.raises(TwoClaims, match=r"aten::mm belongs to boundby\.analyzers\.costs\.gemm"):
        formula("aten::mm")(lambda a: None)


def test_a_prefix_that_overlaps_another_raises() -> None:
    with pytest.raises(TwoClaims, match="triton_poi_"):
        formula("triton_poi_fused_*")(lambda a: None)


def test_a_free_op_cannot_get_a_formula_nor_a_priced_one_be_free() -> None:
    with pytest.raises(TwoClaims, match="aten::view belongs to"):
        formula("aten::view")(lambda a: None)
    with pytest.raises(TwoClaims, match="aten::mm belongs to"):
        free("aten::mm", module="here")


def test_no_op_is_both_free_and_priced() -> None:
    assert not {name for name in free_names() if find(name)}
    assert is_free("aten::view")
    assert not is_free("aten::mm")
    assert not is_free("unheard::of")


def test_an_unknown_op_has_no_cost() -> None:
    assert cost_of(call("unheard::of", T([2, 2]))) is None


@pytest.mark.parametrize(
    "made",
    [
        Call("aten::mm"),
        call("aten::mm", T([4, 8])),
        call("aten::mm", T([4, 8]), T([9, 16])),
        call("aten::mm", T([4, 8, 2]), T([8, 16])),
        call("aten::mm", T([4, 8], "Generator"), T([8, 16])),
        Call("aten::mm", ([], []), ("float", "float")),
        Call("aten::mm", (["4", "8"], [8, 16]), ("float", "float")),
        Call("aten::mm", ([4, -8], [-8, 16]), ("float", "float")),
        Call("aten::mm", ([4, 8], [8, 16]), ("float",)),
        Call("aten::mm", ("", 3), ("float", "float")),
        Call("aten::bmm", ([3, 4, 8], [2, 8, 16]), ("float", "float")),
        call("aten::argmax", T([2, 3]), "one", False),
        call("aten::cat", [T([2, 3])], 0),
        call("aten::_scaled_dot_product_flash_attention", T([2, 4, 3, 8]), T([2, 3, 3, 8]), T([2, 3, 3, 8]), 0.0, True),
        Call("record_param_comms", extra={"Collective name": "allreduce", "dtype": "Float", "Group size": "two"}),
        Call("record_param_comms", extra={"Collective name": "unheard of", "In msg nelems": 1, "Out msg nelems": 1}),
    ],
)
def test_what_shapes_do_not_say_has_no_cost(made: Call) -> None:
    assert cost_of(made) is None


def test_strides_that_do_not_fit_count_as_dense() -> None:
    dims, types = ([2, 3], [2, 3]), ("float", "float")
    with_odd = cost_of(Call("aten::mul", dims, types, ([0], "x")))
    assert with_odd == cost_of(Call("aten::mul", dims, types))


def test_a_list_of_tensors_takes_the_dtype_that_prevails_in_the_trace() -> None:
    calls = [
        call("aten::mm", T([64, 64], "c10::BFloat16"), T([64, 64], "c10::BFloat16")),
        call("aten::cos", T([8, 8], FP32)),
        call("aten::embedding", T([9999, 9999], "long int"), T([4], "long int")),
        call("aten::cat", [T([2, 3]), T([2, 3])], 0),
    ]
    assert prevailing_dtype(calls) == "c10::BFloat16"
    costs = costs_of(calls)
    assert costs[-1] is not None
    assert costs[-1].bytes == 48
    assert cost_of(calls[-1]) is None


_dims = st.one_of(
    st.lists(st.integers(-2, 5), max_size=4), st.text(max_size=2), st.none(), st.lists(st.lists(st.integers(0, 3)))
)
_values = st.one_of(st.sampled_from(["", "True", "[1, 2]", "[", "nan", "15", "-1", "x"]), st.integers(), st.none())
_types = st.sampled_from(["float", "c10::BFloat16", "long int", "TensorList", "Scalar", "ScalarList", "", "odd"])


@settings(max_examples=300, deadline=None)
@given(
    name=st.sampled_from(formula_names()),
    inputs=st.lists(st.tuples(_dims, _types, _dims, _values), max_size=9),
    extra=st.dictionaries(st.sampled_from(["Group size", "dtype", "In msg nelems", "Collective name"]), _values),
)
def test_nothing_that_a_trace_may_hold_raises(name: str, inputs: list[tuple[Any, ...]], extra: dict[str, Any]) -> None:
    columns = [tuple(column) for column in zip(*inputs, strict=True)] or [(), (), (), ()]
    dims, types, strides, concrete = columns
    cost = cost_of(Call(name.replace("*", "x"), dims, types, strides, concrete, extra), assumed="float")
    if cost is not None:
        assert min(cost.flops, cost.bytes_read, cost.bytes_written, cost.weight_bytes) >= 0
