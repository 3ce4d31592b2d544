"""Enrollments of providers and their life."""

__all__: list[str] = []
