"""Claims: the catalogue of fields, decoding, rules, writing an 837, and reading payers' responses.

Knows no HTTP, no database and no clock: external data is passed in.
"""
