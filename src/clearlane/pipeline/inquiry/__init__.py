"""Ask payers and wait for their answers, whatever X12 transaction the inquiry is.

``inquiry_transaction`` says what a transaction must bring: a payload and a reader of its answers. ``inquiry_transactions``
is the table of them. The rest of the engine is the same for all:

- ``ask`` stores a request, hands its inquiries to ``inquiry_runner`` and waits in ``pending_calls``;
- ``inquiry_runner`` sends each inquiry with ``realtime_inquiry`` and stores the result;
- ``inquiry_batches`` makes files for payers that take files only; ``pipeline.outbound`` delivers them, and
  ``pipeline.inbound`` posts the answers;
- ``request_answers`` loads the answers, for callers and operators;
- ``inquiry_schedule`` is run by the engine, for retries and for purging.

Questions about claims (276) are the second transaction: ``status_transaction`` is its row, and ``ask_payer`` asks about one claim.

Eligibility is the first transaction: ``eligibility_transaction`` is its row, ``eligibility_request`` reads and checks a
request of a vendor, ``eligibility_list`` lists earlier requests for people, ``eligibility_details`` is one as programs see it, and
``benefits_file`` makes the heading of a PDF file of their answers.

``sender_transactions`` is the table of what senders ask by files of their own (270, 276): ``inquiry_plan`` says who is asked, ``x12_inquiry``
answers in real time, ``asked_claims`` finds the claims of a 276 that came through us.
"""
