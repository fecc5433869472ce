"""Work spread over the processes of one machine or of many, by Ray."""
