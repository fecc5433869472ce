"""What can be made of a race file for other programs and for people: MCAP, Parquet, a report."""
