"""What donkeysim is built on: exact versions with hashes, licences, known faults; and figures of its own sources."""
