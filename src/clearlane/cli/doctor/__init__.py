"""``clearlane doctor`` and ``status``: what is wrong, and what waits."""
