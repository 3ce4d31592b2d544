"""Bytes to segments to a tree, unit by unit."""
