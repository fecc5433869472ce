"""The server: sessions without IO, sockets, and the watching page."""
