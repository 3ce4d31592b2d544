"""Follow up on what claims await: act when it is due.

``measure_answers`` estimates once a day how long each payer takes for each step of its answers. ``overdue_claims`` looks for
claims whose payers have not answered in time, and acts on them by the table of ``claims.awaiting``. ``watch_filing_limits``
warns before the filing limits of claims. ``awaited_enrollments`` releases claims that wait for an enrollment. The engine runs
all of them.
"""
