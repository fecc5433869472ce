"""Kernels of what exists: values that are drawn for cars, and places along paths."""
