"""Reads and reasons: trace, tables, costs, time accounts, verdicts. Never imports torch."""
