"""The compiled inner loops of physics."""
