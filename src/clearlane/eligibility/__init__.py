"""Eligibility: who asks whom about which patient, the 270 that asks, the 271 that answers.

Pure: no database, no connection and no clock. Knows kernel, x12, payers and accounts.
"""
