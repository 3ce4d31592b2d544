"""Searches with one text, as people type it."""
