"""What exists: specifications, scenes, state, telemetry, tracks and cars as data."""
