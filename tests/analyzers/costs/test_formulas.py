"""Every formula, against numbers worked out by hand."""

from __future__ import annotations

import pytest
from costcalls import Case
from costcases import CASES

from boundby.analyzers.costs import Call, cost_of, find, formula_names

EACH = [(made, case) for case in CASES for made in case.calls]


@pytest.mark.parametrize(("made", "case"), EACH, ids=[f"{made.name}-{n}" for n, (made, _) in enumerate(EACH)])
def test_cost_is_the_one_worked_out_by_hand(made: Call, case: Case) -> None:
    cost = cost_of(made, assumed="float")
    assert cost is not None
    assert (cost.bytes_read, cost.bytes_written) == pytest.approx((case.read, case.written), rel=1e-12)
    assert (cost.flops, cost.unit) == (case.flops, case.unit)
    if case.uncut is not None:
        assert cost.flops_uncut == case.uncut


def test_no_formula_is_without_a_case() -> None:
    tested = {found.op for made, _ in EACH if (found := find(made.name)) is not None}
    assert tested == set(formula_names())


def test_a_cost_that_shapes_cannot_tell_is_none() -> None:
    nothing = [made for made, _ in EACH if cost_of(Call(made.name)) is not None]
    assert nothing == []
