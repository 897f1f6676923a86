"""Which traces are ranks of one job: by what the trace says of its process group, and by rank tokens in the file's name."""

from __future__ import annotations

import re
from typing import Any

_TOKENS = re.compile(r"(?i)(?<![a-z0-9])(?:(rank|r|tp|dp|pp|ep|dcp)[-_]?(\d+))(?=[-_.]|$)")


def job_and_rank(source: str, metadata: dict[str, Any]) -> tuple[str, int | None]:
    """The job a trace belongs to (its folder and name without rank tokens) and its rank, None when it has neither."""
    folder, _, name = source.rpartition("/")
    tokens = _TOKENS.findall(name)
    distributed = metadata.get("distributed", {})
    rank = distributed.get("rank")
    if not isinstance(rank, int):
        named = [int(n) for kind, n in tokens if kind.lower() in ("rank", "r", "tp")]
        rank = named[0] if named else None
    alone = distributed.get("world_size", 1) in (0, 1) and not tokens
    if rank is None or alone:
        return "", None
    # Files of one run differ in their rank and in a time stamp.
    stem = re.sub(r"\d{9,}(\.\d+)?", "*", _TOKENS.sub(lambda m: f"{m[1]}*", name))
    return f"{folder}/{stem}" if folder else stem, rank
