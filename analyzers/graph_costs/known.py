"""`known_models`: the sizes of well-known public models, from `known_models.json` (each row a Hugging Face config)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from ..facts import ModelFacts, from_config


@cache
def known_models() -> tuple[ModelFacts, ...]:
    """All of them, in the order of the file. Fine-tuned models have the sizes of the model they come from."""
    rows = json.loads(Path(__file__).parent.with_name("known_models.json").read_text("utf-8"))
    return tuple(from_config(row, name=row["_name_or_path"]) for row in rows)
