"""A race as pages show it: timing, every moment kept, and the addresses that only races need."""
