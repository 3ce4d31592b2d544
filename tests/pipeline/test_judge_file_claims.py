"""Claims of senders' files at intake: judged like any other, stored, sent in one file with claims of V3, and corrected.

Also tests `pipeline/intake/store_file_claims`, `pipeline/intake/correct_file_claim`, `claims/rules/file_claims`,
`pipeline/payer_lookup`, `pipeline/operator/payer_alias_admin` and `store/delivery/payer_aliases`.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from clearlane.claims.forms import form_of
from clearlane.claims.forms.x12_loops import check_claim
from clearlane.claims.write.write_x12 import passing_changes
from clearlane.kernel.clock import to_micros
from clearlane.kernel.ids import VendorId, number_moment
from clearlane.payers.sender_payers import AliasRow
from clearlane.pipeline.intake.correction_guard import CorrectionConflict
from clearlane.pipeline.intake.judge_file_claims import FileClaim, SeenClaims, judge_file_claims
from clearlane.pipeline.intake.store_file_claims import store_file_claims
from clearlane.pipeline.intake.submit_correction import submit_correction
from clearlane.pipeline.load_claim import load_claim_in_scope
from clearlane.pipeline.operator.payer_alias_admin import (
    AliasesRefused,
    alias_scope,
    remove_alias,
    set_aliases,
)
from clearlane.store.claims import claim_history
from clearlane.store.claims.earlier_claims import find_superseded
from clearlane.store.database.database import Actor
from clearlane.store.delivery import payer_aliases
from tests.claims.file_claims import VISITS, claims_in
from tests.databases import KINDS
from tests.pipeline.outbound import HARBOR, MEADOW, numbers_in, outbound

pytestmark = pytest.mark.one_database

ACTOR = Actor("vendor", "ACME")
# In the year of the tests' clock, for the payers of the tests.
FILE = (
    VISITS.read_bytes()
    .replace(b"2025", b"2023")
    .replace(b"ABF:R51", b"ABF:R519")
    .replace(b"MDW10", MEADOW.encode())
    .replace(b"HHP20", HARBOR.encode())
)


@pytest.fixture(params=KINDS)
async def out(request, new_place, clock):
    async with outbound(await new_place(request.param), clock) as made:
        made.connections.add()
        made.connections.add(HARBOR)
        yield made


async def judged(out, data=FILE, seen=None, **options):
    page = [FileClaim(claim, check_claim(claim)) for claim in claims_in(data)]
    now = out.clock.now()
    seen = seen or SeenClaims()
    return await judge_file_claims(out.context, out.site, page, now=now, seen=seen, **options)


async def stored(out, data=FILE):
    """Store the claims of a file; return their numbers."""
    prepared = await judged(out, data)
    rows = [one.row for one in prepared]
    await out.context.database.write(
        out.site.scope, lambda tx: store_file_claims(tx, out.context, out.site, rows), actor=ACTOR
    )
    return [row.claim_number for row in rows]


async def loaded(out, number):
    context = out.context
    return await load_claim_in_scope(
        context.database, context.vault, out.site.scope, number, actor=ACTOR
    )


def errors(prepared):
    return [
        (one.rule, one.location) for one in prepared.judgement.findings if one.severity == "error"
    ]


@pytest.mark.both_databases
async def test_claims_of_a_file_are_stored_and_sent_in_one_file_with_those_of_v3(out):
    production = FILE.replace(b"*0*T*:~", b"*0*P*:~")
    first, second = await stored(out, production)
    (own,) = await out.submit()
    assert (await loaded(out, first)).claim == claims_in(production)[0]
    await out.go(hours=1)
    meadow, harbor = (out.connections.mailboxes[n] for n in (1, 2))
    (content,) = meadow.sent.values()
    assert sorted(numbers_in(content)) == sorted([own, first])
    assert harbor.claims == [second]


async def test_what_a_rule_finds_is_named_at_its_place_in_the_file(out):
    prepared = await judged(out, FILE.replace(b"SV1*HC:87880*55.5", b"SV1*HC:87880*54.5"))
    assert errors(prepared[0]) == [("C701", "2300/CLM02 (segment 27)")]
    assert prepared[0].row.state == "not_accepted"
    assert not errors(prepared[1])


async def test_numbers_sort_as_the_claims_do_by_when_their_page_was_read_and_in_it(out):
    read_at = out.clock.now() + timedelta(seconds=7)
    prepared = await judged(out, FILE, numbered_at=read_at) + await judged(
        out, FILE, numbered_at=read_at + timedelta(milliseconds=1)
    )
    numbers = [one.row.claim_number for one in prepared]
    assert numbers == sorted(set(numbers)), "in the order of the file"
    assert [*map(number_moment, numbers)][:2] == [read_at, read_at]
    assert {one.row.created_at for one in prepared} == {to_micros(out.clock.now())}


async def test_an_unknown_payer_is_not_accepted_and_near_ones_are_offered(out):
    (first, _) = await judged(
        out, FILE.replace(b"MEADOW MUTUAL*****PI*MM001", b"MEADOW MUTUEL*****PI*MM999")
    )
    assert errors(first) == [("C101", "2010BB/NM109 (segment 20)")]
    (message,) = [one.message for one in first.judgement.findings if one.rule == "C101"]
    assert message.endswith(
        "write an id of the payer list in NM109 of loop 2010BB, or ask the operator for an alias. "
        "A near one is Meadow Mutual (MM001)."
    )


@pytest.mark.both_databases
async def test_an_equal_claim_is_not_accepted_while_the_first_is_open(out):
    seen = SeenClaims()
    once = await judged(out, seen=seen)
    again = await judged(out, seen=seen)
    assert [errors(one) for one in once] == [[], []]
    assert [errors(one)[0][0] for one in again] == ["C120", "C120"]
    first, _ = await stored(out)
    (later, _) = await judged(out)
    assert errors(later) == [("C120", "2300/CLM01 (segment 27)")]
    assert first in later.judgement.findings[0].message
    # The same account with other services is another claim.
    other = await judged(out, FILE.replace(b"20230211", b"20230212"))
    assert errors(other[0]) == []
    out.pass_time(days=31)
    assert errors((await judged(out))[0]) == []


@pytest.mark.both_databases
async def test_a_replacement_is_linked_to_the_only_claim_that_fits(out):
    first, _ = await stored(out)
    replacement = (
        FILE.replace(b"11:B:1*", b"11:B:7*")
        .replace(b"HI*ABK:J0190", b"REF*F8*UNKNOWN~\nHI*ABK:J0190")
        .replace(b"HI*ABK:E119", b"REF*F8*UNKNOWN~\nHI*ABK:E119")
    )
    newer, _ = await stored(out, replacement)
    async with out.context.database.read(out.site.scope) as tx:
        one, other = await find_superseded(tx, [first, newer])
        rows = {row.claim_number: row for row in (one, other)}
    assert rows[newer].predecessor_id == first
    # Several fit: none is linked, and it still goes out.
    for _ in range(2):
        await stored(out, FILE.replace(b"20230211", b"20230213"))
    another, _ = await stored(out, replacement.replace(b"20230211", b"20230214"))
    async with out.context.database.read(out.site.scope) as tx:
        (row,) = await find_superseded(tx, [another])
    assert row.predecessor_id is None


async def test_a_replacement_without_the_payers_number_is_linked_and_goes_out_with_a_warning(out):
    before = await stored(out)
    await out.go(hours=1)
    for frequency in (b"7", b"8"):
        data = FILE.replace(b"11:B:1*", b"11:B:%b*" % frequency)
        judgement = (await judged(out, data))[0].judgement
        assert judgement.accepted
        assert [(one.rule, one.severity) for one in judgement.findings] == [("C901", "warning")]
        newer = await stored(out, data)
        async with out.context.database.read(out.site.scope) as tx:
            rows = {row.claim_number: row for row in await find_superseded(tx, newer)}
        assert [rows[number].predecessor_id for number in newer] == before
        before = newer
    await out.go(hours=1)
    meadow, harbor = (out.connections.mailboxes[n] for n in (1, 2))
    assert before[0] in meadow.claims
    assert before[1] in harbor.claims


async def test_a_test_never_goes_out_as_a_claim(out):
    for routes in out.connections.routes.values():
        routes[:] = [replace(one, usage="P") for one in routes]
    (own,) = await out.submit()
    first, _ = await stored(out)
    await out.go(hours=1)
    usages = {
        number: content[102:103]
        for content in out.connections.mailboxes[1].sent.values()
        for number in numbers_in(content)
    }
    assert usages == {own: b"P", first: b"T"}


async def correct(out, number, fields, **more):
    return await submit_correction(
        out.context, out.site, number, fields, actor=ACTOR, now=out.clock.now(), **more
    )


async def test_a_correction_patches_the_element_that_a_finding_names(out):
    first, _ = await stored(out, FILE.replace(b"SV1*HC:87880*55.5", b"SV1*HC:87880*54.5"))
    refused = await correct(out, first, {"Svc_VendorClaimId": "X", "2300/CLM01 (segment 27)": "X"})
    assert [one.location for one in refused.findings] == [
        "Svc_VendorClaimId",
        "2300/CLM01 (segment 27)",
    ]
    several = await correct(out, first, {"2400/SV102": "1", "2300/NM199": "1"})
    assert [one.message for one in several.findings] == [
        "The claim has 2 of them. Name one: 2400/SV102 (segment 32), 2400/SV102 (segment 36).",
        "Name an element of the sender's file as findings do, such as 2400/SV101-2 (segment 31).",
    ]
    done = await correct(out, first, {"2300/CLM02": "204.5"})
    assert done.accepted, done.findings
    before, after = await loaded(out, first), await loaded(out, done.claim_number)
    assert form_of(before.claim).value(before.claim, "total_charge") == 205.5
    assert form_of(after.claim).value(after.claim, "total_charge") == 204.5
    again = await correct(out, first, {"2300/CLM02 (segment 27)": "204.5"})
    assert [one.rule for one in again.findings] == ["C120"]
    with pytest.raises(CorrectionConflict):
        await correct(
            out, first, {"2300/CLM02 (segment 27)": "204.5", "2400/DTP03 (segment 37)": "20230210"}
        )


async def test_a_claim_that_waits_is_canceled_for_its_correction(out):
    first, _ = await stored(out)
    done = await correct(out, first, {"2010AA/N301 (segment 11)": "14 ELM STREET"})
    assert done.accepted, done.findings
    states = await out.states()
    assert states[first][0] == "canceled"
    await out.go(hours=1)
    assert done.claim_number in out.connections.mailboxes[1].claims
    assert first not in out.connections.mailboxes[1].claims


async def test_a_claim_on_its_way_is_not_sent_twice_by_a_correction(out):
    first, _ = await stored(out)
    await out.go(hours=1)
    with pytest.raises(CorrectionConflict, match="Nothing would change"):
        await correct(out, first, {}, unchanged=True)
    # The payer has no number for it yet, so that a replacement could not name it.
    early = await correct(out, first, {"2010AA/N301 (segment 11)": "14 ELM STREET"})
    assert [one.rule for one in early.findings if one.severity == "error"] == ["C901"]


@pytest.mark.both_databases
async def test_a_claim_that_is_sent_again_takes_the_place_of_the_one_not_accepted(out):
    wrong = FILE.replace(b"SV1*HC:87880*55.5", b"SV1*HC:87880*54.5")
    first, _ = await stored(out, wrong)
    again, _ = await stored(out, wrong.replace(b"FB-1002", b"FB-1003"))
    last, _ = await stored(out, FILE.replace(b"FB-1002", b"FB-1004"))
    other, _ = await stored(out, wrong.replace(b"20230211", b"20230212"))
    async with out.context.database.read(out.site.scope) as tx:
        rows = {
            row.claim_number: await claim_history.find_state(tx, row.claim_number)
            for row in await find_superseded(tx, [first, again, last, other])
        }
    assert [rows[number].successor_id for number in (first, again)] == [again, last]
    assert [rows[number].is_superseded for number in (first, again, last, other)] == [1, 1, 0, 0]


async def test_an_alias_of_the_vendor_leads_to_its_payer_and_the_history_names_the_change(out):
    context, own, other = out.context, out.site.vendor_id, VendorId(out.site.vendor_id + 1)
    payers = context.payer_access.payers()

    async def put(vendor_id, *rows):
        aliases = [AliasRow(line, *row) for line, row in enumerate(rows, 1)]
        given = {"payers": payers, "actor": ACTOR, "now": out.clock.now()}
        return await set_aliases(context.database, vendor_id, aliases, **given)

    named = FILE.replace(b"PI*MM001", b"PI*Meadow-9")
    assert errors((await judged(out, named))[0])[0][0] == "C101"
    assert await put(own, ("MEADOW-9", HARBOR), ("OLD-1", MEADOW)) == 2
    assert await put(own, ("meadow-9", MEADOW)) == 0
    number, _ = await stored(out, named)
    row = await loaded(out, number)
    assert (row.row.payer_id, row.claim) == (MEADOW, claims_in(named)[0])
    assert next(passing_changes(row.claim, MEADOW)) == (
        f"The payer's id Meadow-9 goes out as {MEADOW}, its id in the directory."
    )
    # Row-level scope: no other vendor has it.
    async with context.database.read(alias_scope(other)) as tx:
        assert await payer_aliases.list_aliases(tx) == []
    with pytest.raises(AliasesRefused) as refused:
        await put(own, (HARBOR, MEADOW), ("A", "NONE"), ("Ab", MEADOW), ("AB", MEADOW))
    assert [(row.line, row.finding.rule) for row in refused.value.findings] == [
        (1, "PAYA4"),
        (2, "PAYA2"),
        (2, "PAYA5"),
        (4, "PAYA3"),
    ]
    assert await remove_alias(context.database, other, "MEADOW-9", actor=ACTOR) is None
    assert (await remove_alias(context.database, own, "meadow-9", actor=ACTOR)).payer_id == MEADOW
    assert errors((await judged(out, named))[0])[0][0] == "C101"
