"""Take in the files of payers.

The engine runs ``receive`` every other second: it fetches files from mailboxes, stores them raw, and starts ``post``
for each. A connection that is brought files calls ``receive.receive`` itself. ``post`` identifies a file, passes answers to inquiries to ``post_eligibility``, reads everything else with
``inbound_statements``, which finds the claims with ``match_claims``, and records the facts (``pipeline.claim_status``).
"""
