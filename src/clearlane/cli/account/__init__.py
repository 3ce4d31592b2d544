"""``clearlane vendor``, ``site``, ``user``, ``instance`` and ``console``."""
