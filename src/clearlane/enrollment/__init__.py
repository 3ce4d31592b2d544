"""Enrollment: requests of vendors to enroll a billing provider with payers.

Knows the fields and rules of a request and its states with each payer. Knows no HTTP, database or clock.
"""
