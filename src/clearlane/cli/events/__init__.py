"""``clearlane events`` and ``webhook``."""
