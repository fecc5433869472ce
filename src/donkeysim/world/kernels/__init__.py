"""The compiled inner loops of places along paths."""
