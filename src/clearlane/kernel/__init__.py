"""Shared values: findings, faults, ids, value formats, limits and clocks. Imports the standard library only."""
