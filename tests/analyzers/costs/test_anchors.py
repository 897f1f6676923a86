"""Which op's cost stands for ops that nest."""

from __future__ import annotations

import numpy as np
from costcalls import T, call

from boundby.analyzers.costs import Call, anchor_rows, costs_of

X, W, BIAS = T([4, 8]), T([16, 8]), T([16])
LINEAR = call("aten::linear", X, W, BIAS)
ADDMM = call("aten::addmm", BIAS, X, T([8, 16]), 1, 1)
COPY = call("aten::copy_", T([4, 16]), T([4, 16]), False)
VIEW = call("aten::view", X, [4, 8])
UNKNOWN = call("custom::op", X)


def _anchors(*rows: tuple[int, Call]) -> tuple[list[int], list[bool]]:
    """Anchors and idleness of ops given as (parent row, call)."""
    calls = [made for _, made in rows]
    parent = np.array([up for up, _ in rows])
    found = anchor_rows(np.arange(len(rows)), parent, calls, costs_of(calls))
    return found.anchor.tolist(), found.idle.tolist()


def test_an_op_that_hands_its_work_on_leaves_the_cost_to_the_op_inside() -> None:
    anchor, idle = _anchors((-1, LINEAR), (0, VIEW), (0, ADDMM))
    assert anchor == [-1, -1, 2]
    assert idle == [True, True, False]


def test_an_op_that_ran_as_one_piece_has_its_own_cost() -> None:
    assert _anchors((-1, LINEAR), (0, VIEW))[0] == [0, 0]


def test_steps_inside_a_priced_op_belong_to_it() -> None:
    """addmm copies its bias into the output first: one product, not a product and a copy."""
    assert _anchors((-1, LINEAR), (0, ADDMM), (1, COPY), (2, VIEW))[0] == [-1, 1, 1, 1]


def test_a_wrapper_with_a_formula_stands_for_the_ops_it_calls() -> None:
    wrapper = call("aiter::gemm_a16w16", X, W, None, 6, None, None, None)
    assert _anchors((-1, wrapper), (0, LINEAR), (1, ADDMM))[0] == [0, 0, 0]


def test_a_priced_op_whose_shapes_are_missing_leaves_it_to_those_inside() -> None:
    assert _anchors((-1, Call("aiter::gemm_a16w16")), (0, ADDMM))[0] == [-1, 1]


def test_an_unknown_op_is_neither_priced_nor_idle() -> None:
    assert _anchors((-1, UNKNOWN), (0, VIEW), (0, ADDMM)) == ([-1, -1, 2], [False, True, False])


def test_two_roots_do_not_mix() -> None:
    assert _anchors((-1, ADDMM), (-1, UNKNOWN), (1, VIEW))[0] == [0, -1, -1]


def test_no_ops() -> None:
    assert _anchors()[0] == []
