"""Ask payers about the coverage of patients.

The API calls ``inquire``: it stores a request, hands its inquiries to ``inquiry_runner`` and waits in
``pending_calls``. ``inquiry_runner`` sends each inquiry with ``realtime_inquiry`` and stores the result; payers that
take files only get a batch of ``inquiry_batches``, which ``pipeline.outbound`` delivers and ``pipeline.inbound`` posts.
``eligibility_results`` loads the answers, ``request_list`` lists earlier requests for people. The engine runs
``inquiry_schedule`` for retries and for purging.
"""
