"""Types, frames, errors, clocks, pictures and configuration: knows nothing of cars."""
