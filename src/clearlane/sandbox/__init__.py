"""Simulated payers: they read files with the X12 engine, decide by their own code, and respond.

Knows ``kernel``, ``x12`` and the port of the connections. A payer that used the tables which wrote a file would
agree with their mistakes, so the claim code is not known here.
"""
