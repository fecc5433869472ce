"""The small parts of a car: who drives, what is recorded, which pilot runs."""
