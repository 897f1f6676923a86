"""Steps of one kind and one shape class are one phase."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from boundby.analyzers.phases import group_phases
from boundby.analyzers.step import Step, Tokens


def step(
    kind: Any, batch: int | None = None, query: int | None = None, context: int | None = None, **more: Any
) -> Step:
    return Step(kind=kind, start_ns=0, end_ns=1, batch=batch, query_tokens=query, context_tokens=context, **more)


def ids(*steps: Step) -> list[tuple[str, tuple[int, ...]]]:
    return [(group.id, group.numbers) for group in group_phases(steps)]


def test_decode_steps_stay_one_phase_while_their_context_grows() -> None:
    steps = [step("prefill", 1, 512, 512), *[step("decode", 1, 1, 513 + n) for n in range(3)]]
    assert ids(*steps) == [("prefill-1x512", (0,)), ("decode-b1", (1, 2, 3))]


def test_prompts_of_other_classes_are_other_phases() -> None:
    steps = [step("prefill", 1, 512, 512), step("prefill", 1, 8192, 8192), step("prefill", 1, 512, 512)]
    assert ids(*steps) == [("prefill-1x512", (0, 2)), ("prefill-1x8192", (1,))]


def test_prompts_of_one_class_are_one_phase_named_by_their_range() -> None:
    assert ids(step("prefill", 1, 300), step("prefill", 1, 512), step("prefill", 1, 513)) == [
        ("prefill-1x300-512", (0, 1)),
        ("prefill-1x513", (2,)),
    ]


def test_chunks_behind_a_cache_are_apart_from_prompts() -> None:
    assert ids(step("prefill", 1, 512, 512), step("prefill", 1, 512, 1024)) == [
        ("prefill-1x512", (0,)),
        ("prefill-1x512-cached", (1,)),
    ]


def test_few_batches_count_exactly() -> None:
    assert ids(*[step("decode", b, b) for b in (3, 4, 3)]) == [("decode-b3", (0, 2)), ("decode-b4", (1,))]


def test_many_batches_are_classed_by_powers_of_two() -> None:
    assert ids(*[step("decode", b, b) for b in (1, 3, 4, 17, 20, 32)]) == [
        ("decode-b1", (0,)),
        ("decode-b3-4", (1, 2)),
        ("decode-b17-32", (3, 4, 5)),
    ]


def test_mixed_steps_are_classed_by_their_composition() -> None:
    def mixed(p: int, d: int, query: int) -> Step:
        return step("mixed", p + d, query, prefill=Tokens(requests=p, q=query - d), decode=Tokens(requests=d, q=d))

    assert ids(mixed(9, 37, 8192), mixed(1, 37, 8192), mixed(1, 2, 100)) == [
        ("mixed-p1-9-d37", (0, 1)),
        ("mixed-p1-d2", (2,)),
    ]


def test_draft_steps_are_a_phase_of_their_own() -> None:
    assert ids(step("unknown", 4, draft=True), step("verify", 4, 20), step("unknown", 4)) == [
        ("unknown-draft-b4", (0,)),
        ("verify-b4", (1,)),
        ("unknown-b4", (2,)),
    ]


def test_unknown_sizes_are_left_out_of_the_id() -> None:
    assert ids(step("prefill"), step("decode"), step("mixed"), step("unknown")) == [
        ("prefill", (0,)),
        ("decode", (1,)),
        ("mixed", (2,)),
        ("unknown", (3,)),
    ]


STEPS = st.lists(
    st.builds(
        step,
        st.sampled_from(["prefill", "decode", "mixed", "verify", "unknown"]),
        st.none() | st.integers(0, 600),
        st.none() | st.integers(0, 10_000),
        st.none() | st.integers(0, 100_000),
    ),
    max_size=30,
)


@given(STEPS)
def test_every_step_is_in_one_phase_and_ids_are_unique(steps: list[Step]) -> None:
    groups = group_phases(steps)
    assert sorted(n for group in groups for n in group.numbers) == list(range(len(steps)))
    assert len({group.id for group in groups}) == len(groups)
    assert [group.numbers[0] for group in groups] == sorted(group.numbers[0] for group in groups)
    assert all(len({steps[n].kind for n in group.numbers}) == 1 for group in groups)
