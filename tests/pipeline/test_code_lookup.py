"""Large code lists are asked once for the claims at hand, on both databases; what was asked is remembered.

Each rule has its claims in `tests/claims/imported_list_cases.py`.

Also tests `x12/codes/asked_codes` and `claims/rules/imported_lists`.
"""

import json
from dataclasses import replace
from datetime import date, timedelta

import pytest

from clearlane.claims.forms import V3_DENTAL, V3_MEDICAL, samples
from clearlane.claims.read.decode import read_claim
from clearlane.pipeline.intake import code_lookup
from clearlane.pipeline.intake.code_lookup import LARGE, CodeLookup, wanted_codes
from clearlane.store.database.database import Actor
from clearlane.store.installation import code_lists
from clearlane.store.installation.code_lists import (
    add_codes,
    begin_edition,
    load_code_lists,
    put_in_force,
)
from clearlane.x12.codes.asked_codes import AskedCodes
from clearlane.x12.codes.code_editions import EMBEDDED, CodeEdition, EditionCode
from tests.databases import START
from tests.pipeline.flowing import Flow

pytestmark = pytest.mark.one_database

OPERATOR = Actor("operator", "nora")
DAY = START.date() - timedelta(days=30)
FIRST, LAST = DAY - timedelta(days=60), DAY + timedelta(days=60)
NPI = samples.BILLING_NPI
BILLING = {"F33A_BillingProviderNpi": NPI}


@pytest.fixture
async def flow(place, database, clock, monkeypatch):
    monkeypatch.setattr(code_lists, "CODES_IN_MEMORY_MAX", 0)
    return await Flow.open(place, database, clock)


async def import_list(flow, name, *codes):
    """Import an edition of a list, and let the node load it."""
    edition = CodeEdition(0, name, "test", FIRST, LAST, 0)
    id = await begin_edition(flow.database, edition, source="file", hash="ab" * 32, actor=OPERATOR)
    await add_codes(flow.database, id, [EditionCode(*code) for code in codes], actor=OPERATOR)
    await put_in_force(flow.database, id, actor=OPERATOR)
    lists = await load_code_lists(flow.database)
    flow.context = replace(flow.context, code_lists=lambda: lists)


@pytest.fixture
def asked(monkeypatch):
    """The codes that were asked for, by statement."""
    found = []
    ask = code_lookup.ask_large_lists

    async def noting(database, lists, wanted):
        found.append({name: sorted(codes) for name, codes in wanted.items() if codes})
        return await ask(database, lists, wanted)

    monkeypatch.setattr(code_lookup, "ask_large_lists", noting)
    return found


def rules(results):
    return [{finding.rule for finding in one.findings} & {"C661", "C664"} for one in results]


@pytest.mark.both_databases
async def test_claims_of_a_document_ask_once_and_the_next_document_only_for_what_is_new(
    flow, asked
):
    await import_list(flow, "nppes-deactivated", (NPI, DAY, None))
    other = samples.RENDERING_NPI
    found = await flow.post(each=[BILLING, {"F33A_BillingProviderNpi": other}, BILLING])
    assert rules(found) == [{"C661"}, set(), {"C661"}]
    assert [one.accepted for one in found] == [False, True, False]
    assert asked == [{"nppes-deactivated": sorted([NPI, other])}]
    assert rules(await flow.post(**BILLING)) == [{"C661"}]
    assert len(asked) == 1


async def test_a_list_that_changed_is_asked_again(flow, asked):
    await import_list(flow, "nppes-deactivated", (samples.RENDERING_NPI, FIRST, None))
    assert rules(await flow.post(**BILLING)) == [set()]
    await import_list(flow, "nppes-deactivated", (NPI, FIRST, None))
    assert rules(await flow.post(**BILLING)) == [{"C661"}]
    assert len(asked) == 2


async def test_without_a_large_list_the_database_is_not_asked(flow, asked):
    await flow.submit()
    assert asked == []


async def test_a_lookup_forgets_before_it_remembers_too_much(flow, asked, monkeypatch):
    monkeypatch.setattr(code_lookup, "CODES_REMEMBERED_MAX", 0)
    await import_list(flow, "nppes-deactivated", (NPI, FIRST, None))
    await flow.post(**BILLING)
    assert rules(await flow.post(**BILLING)) == [{"C661"}]
    assert len(asked) == 2


def claim_of(form, **own):
    claim = samples.extended_claim(form, DAY) | own
    return read_claim(form, json.dumps(claim, default=str).encode(), "").claim


def test_the_codes_that_rules_ask_for_are_found_in_claims_of_every_form():
    medical, dental = claim_of(V3_MEDICAL), claim_of(V3_DENTAL)
    wanted = wanted_codes([medical, dental], LARGE)
    assert {name for name, codes in wanted.items() if codes} == LARGE
    assert NPI in wanted["nppes"]
    assert wanted["ndc"] == {"000090011"}
    codes = {line.F24D_HcpcsProcedureCode for line in medical.F24_ClaimLines}
    assert codes <= wanted["mue"]
    assert all(
        "-" in pair and pair.partition("-")[0] in wanted["mue"] for pair in wanted["ncci-ptp"]
    )


async def test_lists_that_no_rule_asks_are_left_alone(flow, asked):
    await import_list(flow, "hipps", ("1AFKS", None, None))
    await flow.submit()
    lists = flow.context.code_lists()
    complete = await CodeLookup().complete(flow.database, lists, [], seconds_max=5)
    assert complete.find("hipps") is None
    assert asked == []


def test_asked_codes_say_what_was_asked():
    known = AskedCodes([(FIRST, LAST)])
    assert known.unknown({"A"}) == {"A"}
    known.add(["A"], EMBEDDED["icd-10-cm"])
    assert known.unknown({"A", "B"}) == {"B"}
    assert len(known) == 1
    assert not known.is_valid("A", date.min, date.max)
    assert known.covers(DAY)
