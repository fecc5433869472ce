"""What batches of environments work out for every car: rewards, ends, starts and observations."""
