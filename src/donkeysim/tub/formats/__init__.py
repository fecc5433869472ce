"""Drives in formats of other programs, and from them: LeRobot, Minari, MCAP, Parquet."""
