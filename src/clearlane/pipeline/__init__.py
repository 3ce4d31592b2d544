"""The verbs of the product: the only layer that knows domains and I/O together.

A verb loads, decides and saves; deciding is pure and lives in the domain packages. The packages follow the way of a
claim: ``intake``, ``outbound``, ``inbound``, ``follow_up`` (what payers owe); then ``inquiry`` (ask payers) and ``enrollment``,
``secondary`` (bill the next payer), ``notify`` (events out), ``filing`` (prove that claims were filed), ``retention`` (how long data are kept), ``operator`` (decisions
of people), ``sandbox`` (its time, and what is due then), ``access`` (sign-in) and ``query`` (reading). The modules directly in this package are
shared by these:

- ``work_context``: what every verb is given; ``clearlane.wiring`` builds it;
- ``installation_context``: what an installation provides to the faces;
- ``schedule``: the queues, workflows, ticks and schedules that the engine runs;
- ``helper_process``: a process of the same program that answers what it is handed over, for ``intake`` and ``inbound``;
- ``recent_claims``: claims that intake has just accepted, for the batches of ``outbound``;
- ``record_facts``: records facts on claims, for ``outbound`` and ``inbound``, and has ``claim_status`` recompute the status of
  these claims; ``stored_facts`` opens facts and documents for whoever reads them; ``claim_succession`` finds what a void or
  replacement means for the claim before it, and ``related_claims`` recomputes that one;
- ``claim_events`` and ``payment_events``: make events of what was recorded, for the same transaction;
- ``claim_traces``: adds steps to the traces of the calls that brought claims, for OpenTelemetry;
- ``claim_label``: what a claim is called in lists and on pages;
- ``awaited_thing``: what a claim awaits, as faces show it;
- ``filing_limit``: by when a claim is to be with its payer, as faces show it;
- ``answer_days``: within how many days payers usually answer, and by when what a claim awaits is to come;
- ``claim_payment_content``: what is kept of a claim payment that matches no claim, for ``inbound`` and ``operator``;
- ``share_deposit``: what a site did with its part of a payment, for ``operator`` and ``query``;
- ``find_claim`` and ``load_claim``: find a claim by either of its ids, and load stored claims, opened and audited;
- ``payer_lookup``: finds the payers that files name, with the aliases of their vendor, for ``intake`` and ``inquiry``;
- ``provider_looks``: the billing providers that people were shown last, held by the work context for ``operator``;
- ``other_payer``: finds a claim's other payer in the directory by its name, for ``intake`` and ``outbound``;
- ``route_connections``: the connections of stored routes, for everything that talks to payers.

Imports nothing here: the engine's library takes most of a second to load, and commands that do not need it must not
wait for it.
"""
