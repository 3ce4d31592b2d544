"""``clearlane claim``, ``documents`` and ``listen``."""
