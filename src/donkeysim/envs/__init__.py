"""Environments: the simulator as Gymnasium sees it, in this process or behind a socket."""
