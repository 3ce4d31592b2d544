"""Proofs of filing: what was delivered and acknowledged, in a form that anyone can check.

    statements      what a delivery or an acknowledgement says, and the salted leaf that it adds to the log
    merkle          hash trees in the form of RFC 6962: root, path, and the root that a path leads to
    signing         Ed25519 signatures of the installation
    checkpoint      the root over the leaves of an hour, chained to the one before it and signed
    time_stamp      what an authority outside says of when a checkpoint existed (RFC 3161)
    evidence        the evidence about one claim as one canonical file
    signed_file     the signature over every byte of a file, and the evidence inside of a PDF
    receipt         what an acknowledgement says: by whom, with which category, of which day
    verify_proof    checks a file and says what it proves and what it does not

Knows no database, no clock and no API: a file is checked without the installation that made it.
"""
