"""Python frames, where they were recorded and read: the generation loop of Hugging Face, and functions named for a phase.

`transformers/generation/utils.py(N): _prefill` holds the prompt's forwards (v5); those in `_sample` outside it are decode
steps. In v4 the loop's first forward is the prompt. A forward is the outermost `forward` of a `modeling_*.py`.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import polars as pl

from boundby.analyzers.correlate import Linked, thread_nests
from boundby.analyzers.step import PhaseKind, Step, StepsFound

from .registry import engine
from .shape_evidence import Evidence, filled

Ints = npt.NDArray[np.int64]

FORWARD = r"modeling_\w+\.py\(\d+\): forward$"
PROMPT = r"generation/utils\.py\(\d+\): _prefill$"
LOOP = r"generation/utils\.py\(\d+\): (?:_sample|_greedy_search|greedy_search|_beam_search|_contrastive_search)$"
_FUNCTION = re.compile(
    r"^(?!<)(?!.*token\w*\.py).*\.py\(\d+\): (_?prefill(?:_step)?|_?decode_(?:step|one_token|one|next_token))$"
)
"""A bare `decode` is as likely a tokenizer's or a codec's."""

BY_FRAMES = "the phases are told from Python frames: the generation loop's functions and the model's forward"


@engine("module-frames", order=60, conclusive=False)
def find(linked: Linked) -> StepsFound | None:
    """Steps from the generation loop's frames, else from functions named for a phase; lengths from shapes where there are any."""
    frames = linked.trace.frames
    if not frames.height:
        return None
    steps = _of_generation(frames) or _of_functions(frames)
    if not steps:
        return None
    evidence = Evidence.of(linked)
    pairs = [filled(step, evidence) for step in steps]
    notes = dict.fromkeys([BY_FRAMES, *(note for _, note in pairs if note)])
    return StepsFound(engine="module-frames", steps=tuple(step for step, _ in pairs), notes=tuple(notes))


def _of_generation(frames: pl.DataFrame) -> list[Step]:
    loops = _named(frames, LOOP)
    forwards = _outermost(_named(frames, FORWARD))
    if not loops.height or not forwards.height:
        return []
    prompts = _named(frames, PROMPT)
    loop_of, in_prompt = _inside(forwards, loops), _inside(forwards, prompts) >= 0
    began = frames["ts_ns"].min()
    steps, seen = [], set[int]()
    for n, row in enumerate(forwards.iter_rows(named=True)):
        loop = int(loop_of[n])
        if loop < 0 and not in_prompt[n]:
            continue
        kind: PhaseKind = "prefill" if in_prompt[n] else "decode"
        if not prompts.height and loop not in seen:
            # A loop that the capture's start has cut may be past its prompt.
            kind = "unknown" if loops["ts_ns"][loop] == began else "prefill"
        seen.add(loop)
        steps.append(_step(row, kind))
    return steps


def _of_functions(frames: pl.DataFrame) -> list[Step]:
    kinds: dict[str, PhaseKind] = {}
    for name in frames["name"].unique():
        if found := _FUNCTION.match(name):
            kinds[name] = "prefill" if "prefill" in found[1] else "decode"
    mine = frames.filter(pl.col("name").is_in(list(kinds)))
    return [_step(row, kinds[row["name"]]) for row in _outermost(mine).iter_rows(named=True)]


def _step(row: dict[str, int], kind: PhaseKind) -> Step:
    end = row["ts_ns"] + row["dur_ns"]
    return Step(kind=kind, start_ns=row["ts_ns"], end_ns=end, pid=row["pid"], tid=row["tid"], label=str(row["name"]))


def _named(frames: pl.DataFrame, pattern: str) -> pl.DataFrame:
    distinct = frames["name"].unique()
    return frames.filter(pl.col("name").is_in(distinct.filter(distinct.str.contains(pattern)).to_list()))


def _outermost(frames: pl.DataFrame) -> pl.DataFrame:
    inside = np.full(frames.height, -1, np.int64)
    for nest in thread_nests(frames).values():
        inside[nest.row] = nest.parent_rows()
    return frames.filter(pl.Series(inside < 0))


def _inside(inner: pl.DataFrame, outer: pl.DataFrame) -> Ints:
    """Per inner frame: the row in `outer` of the innermost frame of its thread around its start, -1 for none."""
    found = np.full(inner.height, -1, np.int64)
    tid, ts = inner["tid"].to_numpy(), inner["ts_ns"].to_numpy()
    for thread, nest in thread_nests(outer).items():
        mine = tid == thread
        found[mine] = nest.innermost(ts[mine])
    return found
