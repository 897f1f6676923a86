"""Where in the model each item of the work belongs, and how its cost is known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from boundby.tracer.marks import ModuleMark

from .correlate import Linked, thread_nests
from .facts import ModelFacts
from .parts import Sizes, part_of, sizes_from
from .work import MEMCPY, MEMSET, OP, Work

Ints = npt.NDArray[np.int64]

_SMALLEST_PARTS = ("embedding", "lm_head", "norm")


def parts_of(work: Work, linked: Linked, facts: ModelFacts | None) -> tuple[tuple[str, ...], Ints]:
    """The distinct parts of the model, and per item the number of its part. Told by module marks first, then by shapes
    against the model's sizes, then by the kind of op."""
    if not len(work):
        return ("other",), np.empty(0, np.int64)
    marks, mark_of = _marks(work, linked)
    sizes = _sizes(facts) if facts is not None else sizes_from(zip(work.calls, work.costs, strict=True))
    frame = pl.DataFrame({"mark": mark_of, "call": work.call, "name": work.name})
    distinct = frame.unique(maintain_order=True)
    told = [_part(work, marks, sizes, *row) for row in distinct.iter_rows()]
    parts = tuple(dict.fromkeys(told))
    numbers = distinct.with_columns(pl.Series("part", [parts.index(p) for p in told], dtype=pl.Int64))
    found = frame.join(numbers, on=["mark", "call", "name"], how="left", maintain_order="left")["part"]
    return parts, found.to_numpy()


def _part(work: Work, marks: list[ModuleMark], sizes: Sizes, mark: int, call: int, name: int) -> str:
    if call >= 0 and "part" in work.calls[call].extra:
        return str(work.calls[call].extra["part"])
    cost = work.costs[call] if call >= 0 else None
    family = cost.family if cost is not None else work.names[name].family
    dims = work.calls[call].dims if call >= 0 else ()
    names = (work.calls[call].name, work.full_names[name]) if call >= 0 else (work.full_names[name],)
    if mark >= 0 and marks[mark].part in _SMALLEST_PARTS:
        return marks[mark].part
    return part_of(family, names, dims, sizes=sizes, path=marks[mark].path if mark >= 0 else None)


def _marks(work: Work, linked: Linked) -> tuple[list[ModuleMark], Ints]:
    """Our module spans by distinct name, and per item the innermost one around its launch (on a CPU, around itself)."""
    spans = linked.trace.spans.filter(pl.col("name").str.starts_with("boundby.module[") & ~pl.col("on_device"))
    mark_of = np.full(len(work), -1, np.int64)
    if not spans.height:
        return [], mark_of
    names = spans["name"].unique(maintain_order=True).to_list()
    parsed = {name: ModuleMark.parse(name) for name in names}
    marks = [mark for mark in parsed.values() if mark is not None]
    number = {name: marks.index(mark) if mark is not None else -1 for name, mark in parsed.items()}
    number_of_span = spans["name"].replace_strict(number, return_dtype=pl.Int64).to_numpy()
    on_host = (work.kind == OP).all()
    frame = linked.trace.ops if on_host else linked.trace.launches
    rows = work.anchor if on_host else work.launch
    moments = frame["ts_ns"].to_numpy()[rows]
    threads = frame["tid"].to_numpy()[rows]
    for thread, nest in thread_nests(spans).items():
        mine = np.flatnonzero((rows >= 0) & (threads == thread))
        span = nest.innermost(moments[mine])
        mark_of[mine] = np.where(span >= 0, number_of_span[span], -1)
    return marks, mark_of


def _sizes(facts: ModelFacts) -> Sizes:
    return Sizes(
        hidden=facts.hidden,
        vocabulary=facts.vocab,
        heads=facts.heads,
        kv_heads=facts.kv_heads,
        head_size=facts.head_dim,
        intermediate=facts.ffn or None,
        experts=facts.experts or None,
        expert_widths=(facts.expert_ffn, facts.shared_ffn),
        projections=(facts.q_lora, facts.kv_lora, facts.kv_lora + facts.rope_head_dim) if facts.mla else (),
    )


def known_by(work: Work) -> tuple[tuple[str, ...], Ints]:
    """The distinct ways in which costs are known, and per item the number of its way. An item without a cost is told by its
    kernel's name where that names a family, else not at all."""
    ways = ["none", "name", "shapes", "span", "model"]
    named = np.array([name.family != "other" for name in work.names] or [False], bool)
    result = np.where(named[work.name], 1, 0) if len(work) else np.empty(0, np.int64)
    costed = np.array([ways.index(c.known_by) if c is not None else 0 for c in work.costs] or [0])
    has_cost = ~np.isnan(work.bytes)
    result = np.where(has_cost & (work.call >= 0), np.maximum(costed[work.call], 1), result) if len(work) else result
    result = np.where(has_cost & np.isin(work.kind, (MEMCPY, MEMSET)), 2, result)
    return tuple(ways), result
