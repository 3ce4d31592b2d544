"""Shared values: findings, faults, ids, value formats, limits, clocks and the rule registry.

Of libraries it imports ``msgspec`` and, for the log, ``structlog``.
"""
