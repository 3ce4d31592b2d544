"""Payments and claims as PDF files: values in, a file out.

    payment_pdf     a payment with its equation, provider adjustments and claims
    claim_pdf       one claim's explanation of benefits, over all its payments
    pages           rows placed on numbered pages; the only module that knows the PDF library, with fonts
    __main__        a process of its own that makes one file, so that a large one never grows the service

Knows no database, no clock and no API.
"""
