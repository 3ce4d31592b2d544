"""Payments, claims, proofs of filing, claims on paper and benefits as PDF files: values in, a file out.

    payment_pdf     a payment with its equation, provider adjustments and claims
    claim_pdf       one claim's explanation of benefits, over all its payments
    filing_pdf      a proof that one claim was filed
    form_pdf        a claim placed for its pre-printed form
    sheet_pdf       a claim as a plain sheet, box by box
    benefits_pdf    what payers state of patients' insurance
    pages           rows placed on numbered pages; the only module that knows the PDF library, with fonts
    __main__        a process of its own that makes one file, so that a large one never grows the service

Knows no database, no clock and no API.
"""
