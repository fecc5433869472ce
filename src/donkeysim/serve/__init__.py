"""The server: sessions without IO, the scene and its clients, and sockets."""
