"""``clearlane eligibility``."""
