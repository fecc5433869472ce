"""Benchmarks: one folder per case, `python -m benchmarks [CASE ...]`; figures in README and docs come from here."""
