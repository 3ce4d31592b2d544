"""What is wrong with a file: checks, findings, and the acknowledgement of it."""
