"""Records of simulations: the action log, its replay, snapshots on disk."""
