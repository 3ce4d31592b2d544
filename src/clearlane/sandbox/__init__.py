"""The simulated payers: they read our files with the engine but with their own eyes, decide, and answer.

Knows ``kernel``, ``x12`` and the port of the connections. A payer that used the tables which wrote a file would
agree with their mistakes, so the claim code is not known here.
"""
