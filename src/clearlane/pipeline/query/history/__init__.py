"""The history of one claim, from its receipt to its payment.

``load_history`` reads the rows of a claim with ``history_rows`` and makes a ``claim_history`` of them, whose entries are written by
``history_entries``; ``claim_details`` is what programs get of it.
"""
