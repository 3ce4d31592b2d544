"""``clearlane x12``: commands on X12 files alone."""
