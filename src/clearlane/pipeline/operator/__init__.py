"""Decisions of operators and billers, called by the command line and the console; each is audited.

``batch_admin``, ``inbox_admin`` and ``route_admin`` act on batches, on payers' files and on routes, and ``new_route`` adds and removes routes; ``payment_admin``
assigns unmatched claim payments, ``payment_deposit`` records what sites did with their parts, and ``payee_admin`` names the site that receives a payee's remittances; ``enrollment_admin`` records what payers answered to enrollments. ``claim_work`` keeps
notes and assignments of claims, ``draft_corrections`` a correction that is not sent yet; ``draft_claims`` writes a new claim by hand,
and ``remembered_claims`` says what earlier claims tell for it. ``import_codes`` puts editions of
code lists in force, ``try_codes`` says what one would change, ``rule_admin`` sets claim rules for payers and sites, and
``payer_alias_admin`` what the files of a vendor call payers.
``export_site`` writes everything of a site into a directory, and ``erase_site`` erases it then.
``audit_trail`` searches the trail by days and by any id of a claim.
"""
