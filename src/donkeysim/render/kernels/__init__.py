"""The compiled inner loops of pictures and ranges."""
