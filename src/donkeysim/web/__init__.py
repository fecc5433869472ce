"""What all pages share: host and origin checks, headers, static files, a socket and a server in a running loop."""
