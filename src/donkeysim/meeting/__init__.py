"""Race meetings in this process: pilots as racers, race files, verification, tournaments and leagues."""
