"""The rows of the index: one a phase of each trace, and one for each trace that has none."""

from __future__ import annotations

from typing import Any

from .store import Entry

COLUMNS = (
    "trace",
    "model",
    "engine",
    "device",
    "phase",
    "kind",
    "bound",
    "margin",
    "contested",
    "wall_us",
    "busy",
    "efficiency",
    "launch",
    "communication",
    "coverage",
    "warnings",
    "job",
    "rank",
    "page",
    "error",
)


def rows_of(entries: list[Entry]) -> list[dict[str, Any]]:
    """Plain values by column; None for what is unknown. `wall_us` is of one step."""
    rows: list[dict[str, Any]] = []
    for entry in entries:
        base = dict.fromkeys(COLUMNS) | {"trace": entry.source, "job": entry.job, "rank": entry.rank}
        if entry.analysis is None:
            rows.append({**base, "error": entry.error or "no result", "bound": "error"})
            continue
        analysis = entry.analysis
        model = analysis.trace.metadata.get("model", {})
        base |= {
            "model": model.get("name") or model.get("class"),
            "device": analysis.device.name or None,
            "warnings": len(analysis.trace.warnings),
            "page": entry.page,
        }
        for phase in analysis.phases:
            shares = phase.shares
            rows.append(
                {
                    **base,
                    "engine": phase.engine,
                    "phase": phase.id,
                    "kind": phase.kind,
                    "bound": phase.bound,
                    "margin": phase.margin,
                    "contested": phase.contested,
                    "wall_us": None if phase.wall_us is None else phase.wall_us / phase.n_steps,
                    "busy": phase.busy_us / phase.wall_us if phase.wall_us and phase.busy_us is not None else None,
                    "efficiency": phase.peak_fraction,
                    "launch": None if shares is None else shares.launch,
                    "communication": None if shares is None else shares.communication,
                    "coverage": phase.cost_coverage,
                }
            )
        if not analysis.phases:
            rows.append({**base, "bound": "unknown"})
    return rows


def job_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row a job and phase: ranks, spread of their step times, the slowest rank, exposed communication."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        if row["job"] and row["phase"] and row["wall_us"]:
            groups.setdefault((row["job"], row["phase"]), []).append(row)
    found = []
    for (job, phase), members in sorted(groups.items()):
        if len(members) < 2:
            continue
        walls = sorted(m["wall_us"] for m in members)
        busy = [m["busy"] * m["wall_us"] for m in members if m["busy"] is not None]
        slowest = max(members, key=lambda m: m["wall_us"])
        found.append(
            {
                "job": job,
                "phase": phase,
                "ranks": len(members),
                "median_us": walls[len(walls) // 2],
                "slowest_rank": slowest["rank"],
                "slowest_over_median": slowest["wall_us"] / walls[len(walls) // 2],
                "imbalance": max(busy) / (sum(busy) / len(busy)) - 1 if busy and sum(busy) else None,
                "communication": sum(m["communication"] or 0.0 for m in members) / len(members),
            }
        )
    return found
