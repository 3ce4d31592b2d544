"""Read payers' responses about claims, and explain them in the sender's own fields."""
