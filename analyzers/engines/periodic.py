"""Steps told by repetition in a trace of kernels alone: a model's steps run one sequence of kernels over and over.

Layers repeat as well. So a period counts as a step only if a kernel that runs once a step (looking up ids, choosing a
token) marks it and attention runs several times in it. Decode is periodic, but so are repeats of one prompt: the kind needs
the attention kernels' names.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl

from boundby.analyzers.correlate import Linked
from boundby.analyzers.step import Step, StepsFound

from .kernel_evidence import ATTENTION, ONCE_A_STEP, kind_by_attention, matches
from .registry import engine

Ints = npt.NDArray[np.int64]

FEWEST_REPEATS = 3
SAME = 0.95
"""Share of a period's kernels that the next one must repeat: a split count or an autotuned kernel may differ."""


@dataclass(frozen=True, slots=True)
class _Run:
    """Consecutive periods on the main stream: where each starts, in positions of that stream's kernels."""

    starts: Ints
    period: int


@engine("periodic", order=90, conclusive=False)
def find(linked: Linked) -> StepsFound | None:
    """One step per repeat, and what comes before and after them as steps of unknown kind."""
    steps = repeats(linked)
    if not steps:
        return None
    n = sum(step.label == REPEAT for step in steps)
    how = f"nothing names the phases: {n} repeats of one kernel sequence are taken as steps"
    if all(step.kind == "unknown" for step in steps):
        how += "; decode steps or repeats of one prompt, which the kernels' names do not tell"
    return StepsFound(engine="periodic", steps=tuple(steps), notes=(how,))


REPEAT = "repeat of a kernel sequence"


def repeats(linked: Linked) -> list[Step]:
    """The repeats of the longest period that is a step, on the stream with the most work; empty when there is none."""
    kernels = linked.trace.kernels
    rows = _main_stream(kernels)
    if len(rows) < 2 * FEWEST_REPEATS:
        return []
    names = kernels["name"][rows]
    run = _find_run(names, kernels["ts_ns"].to_numpy()[rows], kernels["dur_ns"].to_numpy()[rows])
    if run is None:
        return []
    cuts = [*rows[run.starts].tolist()]
    last = int(run.starts[-1]) + run.period
    cuts.append(int(rows[last]) if last < len(rows) else kernels.height)
    kind = kind_by_attention(names[int(run.starts[0]) : last])
    steps = [_step(kernels, low, high, REPEAT, kind) for low, high in pairwise(cuts)]
    edges = [(0, cuts[0], "before the repeats"), (cuts[-1], kernels.height, "after the repeats")]
    steps += [_step(kernels, low, high, label, "unknown") for low, high, label in edges if high > low]
    return steps


def _step(kernels: pl.DataFrame, low: int, high: int, label: str, kind: str) -> Step:
    mine = kernels[low:high]
    end = int((mine["ts_ns"] + mine["dur_ns"]).to_numpy().max())
    return Step(
        kind="decode" if kind == "decode" else "prefill" if kind == "prefill" else "unknown",
        start_ns=int(mine["ts_ns"][0]),
        end_ns=end,
        kernel_rows=(low, high),
        label=label,
    )


def _main_stream(kernels: pl.DataFrame) -> Ints:
    work = kernels.with_row_index("row").filter(pl.col("kind") == "kernel")
    if not work.height:
        return np.empty(0, np.int64)
    busiest = work.group_by("device", "stream").agg(pl.col("dur_ns").sum(), pl.col("row").min()).sort("dur_ns", "row")
    device, stream = busiest.select("device", "stream").row(-1)
    mine = work.filter(pl.col("device").eq_missing(device) & pl.col("stream").eq_missing(stream))
    return mine["row"].cast(pl.Int64).to_numpy()


def _find_run(names: pl.Series, start: Ints, dur: Ints) -> _Run | None:
    distinct = names.unique(maintain_order=True)
    codes = names.replace_strict(distinct, pl.Series(np.arange(len(distinct))), return_dtype=pl.Int64).to_numpy()
    attends = np.concatenate([[0], np.cumsum(matches(names, ATTENTION))])
    marks = np.flatnonzero(matches(names, ONCE_A_STEP))
    candidates = [
        run for code in np.unique(codes[marks]) if (run := _regular(np.flatnonzero(codes == code))) is not None
    ]
    for run in sorted(candidates, key=lambda r: (-len(r.starts) * r.period, r.starts[0])):
        first, last = int(run.starts[0]), min(int(run.starts[-1]) + run.period, len(codes))
        same = codes[first : last - run.period] == codes[first + run.period : last]
        several = (attends[np.minimum(run.starts + run.period, len(codes))] - attends[run.starts]).min() >= 2
        if several and len(same) and same.mean() >= SAME:
            return _from_widest_gap(run, (first, last), codes, start[1:] - (start + dur)[:-1])
    return None


def _regular(at: Ints) -> _Run | None:
    """The longest stretch of a kernel's occurrences that are equally far apart."""
    if len(at) < FEWEST_REPEATS:
        return None
    gaps = np.diff(at)
    edges = np.flatnonzero(np.diff(gaps)) + 1
    stretches = np.split(np.arange(len(gaps)), edges)
    longest = max(stretches, key=lambda stretch: len(stretch) * int(gaps[stretch[0]]))
    if len(longest) + 1 < FEWEST_REPEATS:
        return None
    return _Run(at[longest[0] : longest[-1] + 2], int(gaps[longest[0]]))


def _from_widest_gap(run: _Run, bounds: tuple[int, int], codes: Ints, pause: Ints) -> _Run | None:
    """Where in the period a step begins: after the pause that is typically the longest (the host chooses a token there)."""
    (first, last), period = bounds, run.period
    whole = (last - first - 1) // period
    window = pause[first : first + whole * period].reshape(whole, period)
    shift = (int(np.argmax(np.median(window, axis=0))) + 1) % period
    starts = np.arange(first + shift - period, last, period)
    starts = starts[(starts >= 0) & (starts + period <= len(codes))]
    sequences = codes[starts[:, None] + np.arange(period)]
    middle = sequences[len(sequences) // 2]
    # The repeats at both ends may have borrowed kernels of what came before or after.
    alike = np.flatnonzero((sequences == middle).mean(axis=1) >= SAME)
    starts = starts[alike[0] : alike[-1] + 1]
    return _Run(starts, period) if len(starts) >= FEWEST_REPEATS - 1 else None
