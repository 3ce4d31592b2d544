"""Packages where a room has a service of its own: it ends with the last test of its room."""
