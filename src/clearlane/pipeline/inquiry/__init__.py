"""Ask payers and wait for their answers, whatever X12 transaction the inquiry is.

``inquiry_transaction`` says what a transaction must bring: a payload and a reader of its answers. ``inquiry_transactions``
is the table of them. The rest of the engine is the same for all:

- ``ask`` stores a request, hands its inquiries to ``inquiry_runner`` and waits in ``pending_calls``;
- ``inquiry_runner`` sends each inquiry with ``realtime_inquiry`` and stores the result;
- ``inquiry_batches`` makes files for payers that take files only; ``pipeline.outbound`` delivers them, and
  ``pipeline.inbound`` posts the answers;
- ``request_answers`` loads the answers, for callers and operators;
- ``inquiry_schedule`` is run by the engine, for retries and for purging.

Eligibility is the first transaction: ``eligibility_transaction`` is its row, ``eligibility_request`` reads and checks a
request of a vendor, ``x12_inquiry`` answers a sender's own 270, ``eligibility_list`` lists earlier requests for people.
"""
