"""Take in the files of payers.

A timer runs ``receive`` every other second: it fetches files from mailboxes, stores them raw, and starts ``post`` for
each; ``file_visits`` decides when one that its payer may still be writing is taken and dropped, and ``store_files``
stores several together. A connection that is brought files calls ``receive.receive`` itself.
``post`` identifies a file and has
``check_addresses`` compare its sender and receiver with the route; it passes answers to inquiries to
``post_inquiries`` and payments to ``post_payments``, reads everything else with ``inbound_statements``, which finds the
claims with ``match_claims``, and records the facts (``pipeline.record_facts``). ``file_payers`` says which payers a file is about: that of
an upstream clearinghouse is about many; ``post_report`` shows its reports in words at the claims that they name. ``match_payments`` matches claim payments
whose claim was sent only later. ``match_file_claims`` decides which
claim of a file is meant by an account number that others share. ``sender_responses`` writes what goes back to the senders
of files, ``claim_responses`` what that says of their claims. What posting needs of a file are its ``file_items``; of a large one they are
read in a ``reading_process`` beside the service, by ``reading_orders``.
"""
