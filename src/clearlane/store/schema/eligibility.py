"""Eligibility requests, their patients and what came back."""

__all__: list[str] = []
