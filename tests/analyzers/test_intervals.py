"""Unions, gaps and nests of intervals, against brute force on small numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from boundby.analyzers.intervals import Union, exclusive
from boundby.analyzers.nesting import Nest

INTERVALS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 15)).map(lambda p: (p[0], p[0] + p[1])), max_size=12)


def _arrays(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    array = np.array(pairs, np.int64).reshape(-1, 2)
    return array[:, 0], array[:, 1]


def _cells(pairs: list[tuple[int, int]]) -> set[int]:
    return {cell for start, end in pairs for cell in range(start, end)}


@given(INTERVALS)
def test_a_union_is_as_long_as_the_cells_it_covers(pairs: list[tuple[int, int]]) -> None:
    assert Union.of(*_arrays(pairs)).total == len(_cells(pairs))


@given(INTERVALS, INTERVALS)
def test_covered_counts_the_shared_cells(pairs: list[tuple[int, int]], others: list[tuple[int, int]]) -> None:
    covered = Union.of(*_arrays(pairs)).covered(*_arrays(others))
    assert covered.tolist() == [len(_cells(pairs) & _cells([other])) for other in others]


@given(INTERVALS)
def test_gaps_and_union_tile_the_window(pairs: list[tuple[int, int]]) -> None:
    start, end = Union.of(*_arrays(pairs)).gaps(5, 30)
    assert _cells(list(zip(start.tolist(), end.tolist(), strict=True))) == set(range(5, 30)) - _cells(pairs)


@given(INTERVALS)
def test_exclusive_parts_sum_to_the_union(pairs: list[tuple[int, int]]) -> None:
    ordered = sorted(pairs)
    assert exclusive(*_arrays(ordered)).sum() == len(_cells(ordered))


def test_an_overlap_belongs_to_the_one_that_started_first() -> None:
    assert exclusive(np.array([0, 5, 6]), np.array([10, 12, 8])).tolist() == [10, 2, 0]


BRACKETS = st.recursive(st.just([]), lambda children: st.lists(children, max_size=3), max_leaves=12)


def _lay(tree: list, start: int, rows: list[tuple[int, int, int]], parent: int) -> int:
    """Lay nested lists out as calls of 1 ns plus their children; rows are (start, end, parent)."""
    row = len(rows)
    rows.append((start, 0, parent))
    at = start + 1
    for child in tree:
        at = _lay(child, at, rows, row)
    rows[row] = (start, at + 1, parent)
    return at + 1


@given(BRACKETS)
def test_parents_are_those_of_the_calls_laid_out(tree: list) -> None:
    rows: list[tuple[int, int, int]] = []
    _lay(tree, 0, rows, -1)
    start, end, parent = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    shuffled = np.random.default_rng(0).permutation(len(rows))
    nest = Nest.of(start[shuffled], end[shuffled], shuffled)
    found = dict(zip(nest.row.tolist(), nest.parent_rows().tolist(), strict=True))
    assert [found[row] for row in range(len(rows))] == parent.tolist()


@given(BRACKETS, st.integers(0, 60))
def test_the_innermost_call_is_the_shortest_that_holds_the_moment(tree: list, moment: int) -> None:
    rows: list[tuple[int, int, int]] = []
    _lay(tree, 0, rows, -1)
    holding = [(end - start, row) for row, (start, end, _) in enumerate(rows) if start <= moment < end]
    start, end, _ = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    nest = Nest.of(start, end, np.arange(len(rows)))
    assert nest.innermost(np.array([moment])).tolist() == [min(holding)[1] if holding else -1]


def test_calls_back_to_back_do_not_nest() -> None:
    nest = Nest.of(np.array([0, 10, 10]), np.array([10, 20, 15]), np.arange(3))
    assert nest.parent_rows().tolist() == [-1, -1, 1]


def test_a_child_that_outlives_its_parent_by_a_rounding_is_still_its_child() -> None:
    nest = Nest.of(np.array([0, 2, 12]), np.array([10, 11, 15]), np.arange(3))
    assert nest.parent_rows().tolist() == [-1, 0, -1]
