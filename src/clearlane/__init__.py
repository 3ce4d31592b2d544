"""Clearlane: the clearinghouse anyone can run."""

__version__ = "0.1.0"
