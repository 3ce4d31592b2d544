"""Take claims in: ``submit`` is called by the API with a document of claims.

``submit`` is the path of a claim. ``read`` reads the claims and looks up enrollments and ZIP codes; ``judge`` asks
large code lists about them (``code_lookup``) and has ``prepare_claims`` judge them and make their rows, claims of several
documents together (``microbatch``); ``store`` stores them in one transaction. For a claim that takes over from an earlier one ``correct_claims`` decides how it goes out, and
``correction_guard`` lets one of two corrections win. ``intake_priority`` lets all of this go before the batching of ``outbound``.
``submission_result`` is what becomes of a document.

When many documents come, some go to a process beside the service (``submission_process``) as a ``submission_order``, which
takes the same path there.

Claims of senders' 837 files come page by page: ``judge_file_claims`` judges them and makes their rows, ``store_file_claims``
stores those, and ``correct_file_claim`` prepares a correction of one.

Beside it: ``validate`` says what would become of a document, ``submit_correction`` submits a stored claim with changed
fields, ``resend_claim`` cancels one at its payer or sends it again unchanged as ``resend_rules`` let it, ``send_anyway`` sends one in spite of a rule of ours, ``billed_change`` keeps why and on whose authority one changes what was billed, ``hold_claims`` holds, releases
and cancels claims that no batch has taken, ``claim_x12`` writes one claim as an 837, ``purge_not_accepted`` removes old
claims that were not accepted; the engine runs it. Files that sites send are taken in by ``files``, a package of its own.
"""
