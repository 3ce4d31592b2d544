"""Bill the next payer with what the payer before decided.

- ``payer_decision`` decides what a claim payment means for the next payer, ``next_claim`` loads and decides all that is
  known of the claim for it;
- ``make_drafts`` stores drafts after payments were posted, ``bill_next_payer`` sends one, ``correct_next_claim`` sends it
  again after the payer before changed its decision;
- ``draft_work`` is what the service does by itself: it makes drafts, sends those that ``send_by_itself`` has nothing
  against, and follows claims that a payer forwarded and the next one does not answer;
- ``payer_chain`` shows the claims to all payers as one view.
"""
