"""Diagnoses: one finding per file."""
