"""The compiled inner loops of what exists: drawn values, and places along paths."""
