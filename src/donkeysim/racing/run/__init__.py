"""Races frame by frame: who drives, race files and their verification, tournaments and leagues in folders."""
