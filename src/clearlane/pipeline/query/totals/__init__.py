"""Sums of claims and payments: of the tabs of lists under their filters, and for reports."""
