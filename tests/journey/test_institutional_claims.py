"""Institutional claims as JSON in the sandbox: over 20 types of bill, judged, written, acknowledged, paid, posted."""

import json
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from random import Random

import pytest

from clearlane.claims.forms import UB04, ub04_samples
from clearlane.claims.forms.ub04_view import LINES, OTHER_PAYERS
from clearlane.pipeline.intake.claim_x12 import outgoing_claim
from clearlane.pipeline.intake.submit import submit
from clearlane.pipeline.query.history.load_history import load_history_in_scope
from clearlane.store.claims.claim_query import ClaimListRow, ClaimQuery, list_claims
from clearlane.x12.checker.check import check
from tests.cases import by_profile
from tests.claims.institutional_variety import random_institutional
from tests.claims.outgoing import outgoing, refusals, stored, written
from tests.journey.test_file_round_trip import EVERY, PAYER, VENDOR, practice
from tests.x12.x12sdk_witness import refusals_of_837i

__all__ = ["practice"]
COUNT = by_profile(thorough=500, usual=40, quick=20)
TYPES = (
    "111", "121", "131", "141", "181", "211", "221", "231", "281", "329", "341", "411", "651", "711", "721", "741", "771", "811",
    "831", "851",
)  # fmt: skip


OTHER_PAYER, ITS_ID = "TWL61", "TWL6I"
"""A payer that has an id of its own for institutional claims: claims name it by either."""


def bills(day):
    """Claims for one payer, each with a patient of its own."""
    rng = Random(29)
    for at in range(COUNT):
        claim = random_institutional(rng, day, TYPES[at % len(TYPES)])
        claim.pop(OTHER_PAYERS, None)
        for line in claim[LINES]:
            line.pop("X12_PayerDecisions", None)
        yield claim | {
            "Svc_PayerId": (OTHER_PAYER, ITS_ID)[at % 2] if at % 10 < 2 else PAYER,
            "Svc_VendorClaimId": f"UB-{at}",
            "FL60_InsuredId": f"W{at:06}",
        }


async def sent_under_its_own_id(practice):
    """The payer's claims leave under the id that it has in institutional claims, and are listed under its own."""
    context, site = practice.context, practice.first
    async with context.database.read(site.scope) as tx:
        query = ClaimQuery(where={"payer_id": OTHER_PAYER}, limit=COUNT)
        rows = await list_claims(tx, query, ClaimListRow)
    assert len(rows) == sum(at % 10 < 2 for at in range(COUNT))
    out = outgoing_claim(
        context,
        stored(UB04, next(bills(context.clock.now().date()))),
        number="C1",
        payer_id=OTHER_PAYER,
        account_as_number=False,
    )
    assert (out.sent_payer_id, rows[0].payer_id) == (ITS_ID, OTHER_PAYER)


@pytest.mark.slow
async def test_bills_of_20_types_are_written_answered_and_paid_to_the_cent(practice, caplog):
    context, site = practice.context, practice.first
    raws = list(bills(context.clock.now().date() - timedelta(days=20)))
    data = written([outgoing(stored(UB04, raw), at) for at, raw in enumerate(raws)])
    assert [one for one in check(data).findings if one.severity != "info"] == []
    assert refusals(data, caplog) == []
    assert refusals_of_837i(data) == set()
    document = json.dumps({"DocumentType": "InstitutionalClaim", "Claims": raws}).encode()
    done = await submit(context, document, UB04, site=site, actor=VENDOR, now=context.clock.now())
    assert [one.findings for one in done.results if not one.accepted] == []
    await practice.control.finish_due_work()
    await sent_under_its_own_id(practice)
    await practice.control.advance(EVERY, VENDOR)
    async with context.database.read(site.scope) as tx:
        query = ClaimQuery(where={"kind": "institutional"}, limit=COUNT + 1)
        rows = await list_claims(tx, query, ClaimListRow)
    charged = {
        result.claim_number: sum(Decimal(line["FL47_TotalCharges"]) for line in raw[LINES])
        for raw, result in zip(raws, done.results, strict=True)
    }
    assert {row.claim_number: Decimal(row.total_cents) / 100 for row in rows} == charged
    assert Counter(row.state for row in rows) == {"complete": COUNT}
    assert {row.label for row in rows} == {"paid", "patient_owes"}
    assert all(0 <= row.paid_cents <= row.total_cents for row in rows)
    # What claims were paid is what the payments come to, claim by claim and as a whole.
    paid, adjusted, amounts = await practice.v1_ledger()
    assert sum(paid.values()) == sum(row.paid_cents for row in rows) == sum(amounts) + adjusted


async def test_a_bill_that_goes_out_as_a_replacement_is_one_in_its_series(practice):
    """The payer denied the bill, and the caller sends it again under the same id: it goes out with frequency 7."""
    context, site = practice.context, practice.first
    day = context.clock.now().date() - timedelta(days=20)
    raw = ub04_samples.bill("111", day) | {
        "Svc_PayerId": PAYER,
        "Svc_VendorClaimId": "UB-AGAIN",
        "FL60_InsuredId": "3018",
    }
    for status in ("01", "06"):
        raw["FL17_PatientStatus"] = status
        document = json.dumps({"DocumentType": "InstitutionalClaim", "Claims": [raw]}).encode()
        done = await submit(
            context, document, UB04, site=site, actor=VENDOR, now=context.clock.now()
        )
        assert [one.findings for one in done.results if not one.accepted] == []
        await practice.control.finish_due_work()
        await practice.control.advance(EVERY, VENDOR)
    history = await load_history_in_scope(
        context.database, context.vault, site.scope, done.results[0].claim_number, actor=VENDOR
    )
    assert [one.frequency for one in history.series.members] == ["1", "7"]
