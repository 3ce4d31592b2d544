"""``clearlane enrollment``."""
