"""Agents that think slowly: driving turn by turn, time waits between turns."""
