"""How near the simulator comes to recordings of the original."""
