"""What every inquiry to a payer shares, whatever X12 transaction it is: its result, and how a reply is read.

Eligibility (270 and 271) is the first transaction. Knows X12; knows no subject of an inquiry.
"""
