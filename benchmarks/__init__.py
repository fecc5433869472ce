"""Benchmarks: one folder per case, `python -m benchmarks [CASE ...]`; every figure in README and docs comes from here."""
