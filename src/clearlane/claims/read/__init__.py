"""Read submitted documents into claims: decode, repair, and compare."""
