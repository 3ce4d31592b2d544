"""Pages about payments: the list, one payment, and its files."""
