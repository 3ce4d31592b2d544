"""Payments (X12 835): read, matched to claims that were sent, balanced and described in words.

Knows no claim form, HTTP, database or clock; the caller passes the claims that were sent.
"""
