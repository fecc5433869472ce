"""What all pages share: host and origin checks, static files."""
