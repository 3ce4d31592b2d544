"""Prove that claims were filed: the log of deliveries and acknowledgements, its checkpoints, and proofs for payers.

``filing_leaves`` makes what ``outbound`` and ``inbound`` add to the log in their own transactions. A timer runs
``checkpoints``: every hour it signs what was added. ``stamp_checkpoints`` has an authority outside stamp it, if an operator named
one. ``claim_proof`` gathers the evidence about one claim, and ``proof_file`` makes a file of it, for people as PDF.
``claim_form_file`` makes the file of a claim that is filed on paper.
"""
