"""Remittances: what payers paid, claim by claim, matched to what was sent, added up and told in words.

Knows no claim form, no HTTP, no database and no clock: what was sent is handed in.
"""
