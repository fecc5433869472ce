"""The protocol of the original, without IO: bytes to objects, objects to messages."""
