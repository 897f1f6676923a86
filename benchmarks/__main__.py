"""Run the benchmark: `python -m benchmarks [--sizes 10,100,300] [--rounds 5] [--source TRACE] [--out DIR]`.

Every contestant is a whole process, run in turn, round by round, on the same generated trace; printed are medians of wall time
and peak memory, and ratios to the first. Results go to OUT/results.json and OUT/results.svg.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .contestants import CONTESTANTS, Contestant, present
from .generate import generate

SAMPLE = Path(__file__).resolve().parents[1] / "sample_traces" / "llama-125m.json.gz"


def main() -> None:
    """Measure, print, write."""
    options = _options()
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    runners = present(options.python)
    for missing in [c.name for c in CONTESTANTS if c not in runners]:
        print(f"not installed, so not measured: {missing}")
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for size in [float(s) for s in options.sizes.split(",")]:
            trace = Path(folder) / f"trace-{size:g}.json"
            events = generate(Path(options.source), trace, size)
            results.append(_measure(trace, size, events, runners, options.rounds, options.python))
            trace.unlink()
    (out / "results.json").write_text(
        json.dumps({"machine": platform.processor(), "cores": os.cpu_count(), "sizes": results}, indent=1)
    )
    _chart(results, out / "results.svg")
    print(f"wrote {out / 'results.json'} and {out / 'results.svg'}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--sizes", default="10,100,300", help="megabytes of the generated traces")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--source", default=str(SAMPLE), help="the trace whose events are repeated")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the alternatives")
    parser.add_argument("--out", default="build/bench")
    return parser.parse_args()


def _measure(
    trace: Path, size: float, events: int, runners: list[Contestant], rounds: int, python: str
) -> dict[str, object]:
    samples: dict[str, list[tuple[float, float]]] = {c.name: [] for c in runners}
    for _ in range(rounds):
        for contestant in runners:
            samples[contestant.name].append(_run(_filled(contestant, trace, python)))
    print(f"\n{trace.stat().st_size / 1e6:,.0f} MB, {events:,} events, {rounds} rounds")
    rows = {}
    first = statistics.median(t for t, _ in samples[runners[0].name])
    for name, found in samples.items():
        seconds, peak = statistics.median(t for t, _ in found), statistics.median(m for _, m in found)
        rows[name] = {"seconds": seconds, "peak_mb": peak, "samples": [t for t, _ in found]}
        print(f"  {name:<30} {seconds:8.2f} s  {peak:8,.0f} MB  x{seconds / first:.1f}")
    return {"megabytes": trace.stat().st_size / 1e6, "asked": size, "events": events, "contestants": rows}


def _filled(contestant: Contestant, trace: Path, python: str) -> list[str]:
    return [part.replace("{trace}", str(trace)).replace("{python}", python) for part in contestant.command]


def _run(command: list[str]) -> tuple[float, float]:
    """Seconds and peak megabytes of one process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed with exit code {process.returncode}: {' '.join(command)[:200]}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def _chart(results: list[dict[str, object]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    names = list(results[0]["contestants"])  # type: ignore[call-overload]
    for name in names:
        sizes = [r["megabytes"] for r in results]
        rows = [r["contestants"][name] for r in results]  # type: ignore[index]
        left.loglog(sizes, [row["seconds"] for row in rows], "o-", label=name)
        right.loglog(sizes, [row["peak_mb"] for row in rows], "o-", label=name)
    left.set(xlabel="trace, MB", ylabel="seconds, whole process")
    right.set(xlabel="trace, MB", ylabel="peak memory, MB")
    left.legend(fontsize=7)
    figure.savefig(path)


if __name__ == "__main__":
    main()
