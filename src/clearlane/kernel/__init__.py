"""Shared values: findings, faults, ids, value formats, limits, clocks and the rule registry. Imports the standard library only."""
