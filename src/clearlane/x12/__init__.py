"""The X12 engine: bytes <-> segments <-> tree, driven by guides that are data.

    reader     ``read`` streams a file unit by unit, ``parse`` gives the whole tree
    check      ``check`` and ``findings``: everything that is wrong, in words
    writer     ``write`` gives a file back, ``seal`` puts envelopes around new sets, ``clean`` texts
    build      the tree of a set from plain data
    place      fields to places and back, ``2300/DTP:431/03``
    ack        the TA1 and the 999 for a file
    overlay    a payer's small differences applied to a guide
    guides     the guides by version and kind;  ``rules`` what needs several segments at once

Knows no HTTP, SQL, claim form or clock.
"""
