"""Eligibility: requests of vendors, the 270 inquiries made from them, and the 271 responses of payers.

Pure: no database, no connection and no clock. Knows kernel, x12, payers and inquiry.
"""
