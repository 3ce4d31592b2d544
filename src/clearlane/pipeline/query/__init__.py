"""Read what is stored. Every access to claims and payments is audited, and what was read first is marked as read.

- Claims: ``claim_list`` lists them for every face by the filters of ``claim_filters``, ``claim_reason`` explains their
  labels, ``history`` and ``retrieve_documents`` load one's history and documents, ``cause_counts`` says how often
  a cause was seen, ``file_claim_list`` lists those of a file, ``shadow_report`` compares those of shadow files with answers of others.
- Payments: ``payment_list`` lists them for every face; ``payments`` loads one for operators, ``vendor_payments`` for the
  API, ``payment_pages`` for the console; ``pdf_process`` makes files to print.
- Operating, in ``installation``: ``measures`` reads the installation, ``conditions`` is the table of what an operator is warned of,
  ``condition_checks`` finds its cases, ``waiting_claims`` counts what waits for each payer, ``rule_activity`` what rules stopped; ``health`` and
  ``route_states`` show them in the console; ``claim_counts`` and ``operator_counts`` are kept by a schedule.
- Counts of sites that a schedule keeps, so that no page counts: ``claim_summary`` and ``payment_month``. ``stored_counts`` stores
  them all; ``totals`` sums claims and payments for tabs and reports, and ``search`` finds claims by one text.
"""
