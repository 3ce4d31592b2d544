"""Claims: the catalogue of fields, how a document becomes claims, and the rules of the trade.

Knows no HTTP, no database and no clock: facts from outside are handed in.
"""
