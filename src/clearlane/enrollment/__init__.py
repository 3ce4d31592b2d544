"""Enrollment: a billing provider asks, through a vendor, to be enrolled with payers.

Knows the fields of a request, what is wrong with one, and the life it has with each payer. Knows no
HTTP, no database and no clock.
"""
