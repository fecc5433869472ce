"""Programs: compose, decide nothing."""
