"""A big trace from a small one: its events repeated, with ids unique and times consistent."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

ID_STRIDE = 10_000_000
IDS = ("correlation", "External id")


def generate(source: Path, target: Path, megabytes: float) -> int:
    """Write a plain-JSON trace of at least that size in Kineto's layout; returns its number of events."""
    trace = json.loads(gzip.decompress(source.read_bytes()) if source.suffix == ".gz" else source.read_bytes())
    events = trace.pop("traceEvents")
    timed = [e for e in events if "ts" in e]
    span = max(e["ts"] + e.get("dur", 0) for e in timed) - min(e["ts"] for e in timed) + 1000.0
    written = count = round_number = 0
    with target.open("w", encoding="utf-8") as out:
        out.write("{\n" + ",\n".join(f'  "{k}": {json.dumps(v)}' for k, v in trace.items()) + ',\n  "traceEvents": [\n')
        while written < megabytes * 1e6:
            lines = [json.dumps(_moved(e, round_number, span), indent=2) for e in events]
            text = (",\n" if round_number else "") + ",\n".join(lines)
            out.write(text)
            written += len(text)
            count += len(lines)
            round_number += 1
        out.write("\n  ]\n}\n")
    return count


def _moved(event: dict[str, Any], number: int, span: float) -> dict[str, Any]:
    event = dict(event)
    if "ts" in event:
        event["ts"] = round(event["ts"] + number * span, 3)
    if isinstance(event.get("id"), int):
        event["id"] += number * ID_STRIDE
    args = event.get("args")
    if isinstance(args, dict):
        event["args"] = {k: v + number * ID_STRIDE if k in IDS and isinstance(v, int) else v for k, v in args.items()}
    return event
