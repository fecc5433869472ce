"""Learning: pilots, their files and training, and tests of what they can do."""
