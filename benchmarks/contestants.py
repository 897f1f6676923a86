"""What is measured: commands, each a whole process. An alternative that is not installed is left out, and said so."""

from __future__ import annotations

import subprocess
import sys
from typing import NamedTuple


class Contestant(NamedTuple):
    """A name and a command line; `{trace}` stands for the trace's path, `{python}` for the alternatives' interpreter."""

    name: str
    command: list[str]
    needs: str = ""
    """A module without which it cannot run."""


_JSON = "import json, sys; json.load(open(sys.argv[1]))"
_ORJSON = """
import gc; gc.disable()
import orjson, pandas, sys
events = orjson.loads(open(sys.argv[1], 'rb').read())['traceEvents']
pandas.DataFrame([e for e in events if e.get('ph') == 'X'], columns=['cat', 'name', 'pid', 'tid', 'ts', 'dur'])
"""
_HTA = """
import os; os.environ['HTA_DISABLE_NS_ROUNDING'] = '1'
import logging, sys; logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis
TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir='/')
"""
CONTESTANTS = (
    Contestant("boundby analyze --json", [sys.executable, "-m", "boundby", "analyze", "{trace}", "--json", "-", "-q"]),
    Contestant("json.load alone", ["{python}", "-c", _JSON, "{trace}"]),
    Contestant("orjson + pandas frame", ["{python}", "-c", _ORJSON, "{trace}"], "orjson"),
    Contestant("HolisticTraceAnalysis parse", ["{python}", "-c", _HTA, "{trace}"], "hta"),
)


def present(python: str) -> list[Contestant]:
    """Those that can run here, with `python` as the alternatives' interpreter."""
    return [c for c in CONTESTANTS if not c.needs or _has(python, c.needs)]


def _has(python: str, module: str) -> bool:
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return subprocess.run([python, "-c", code], check=False, stderr=subprocess.DEVNULL).returncode == 0
