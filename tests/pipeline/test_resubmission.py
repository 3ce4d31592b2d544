"""A vendor's claim id sent again, through service and store, on both databases.

Also tests `pipeline/intake/correct_claims`.
"""

import asyncio
import re
from datetime import timedelta
from itertools import permutations

import pytest
from sqlalchemy import select

from clearlane.claims.forms import samples
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.pipeline.intake.submit_correction import submit_correction
from clearlane.pipeline.query.history.load_history import load_claim_history
from clearlane.sandbox.clock import SandboxClock
from clearlane.store.claims.claim_query import ClaimListKey, by_label, list_claims, sum_claims
from clearlane.store.database.schema import claims
from clearlane.store.database.sql import Statement
from tests.cases import by_profile
from tests.claims.answers import paid, patient, payment, status
from tests.databases import START
from tests.pipeline.flowing import ACTOR, EVERYONE, MEDICAL, OTHER_PAYER, PAYER, Flow, accounts
from tests.pipeline.outbound import HOLDS_ITS_ID

pytestmark = pytest.mark.one_database

NUMBER = {"Svc_VendorClaimId": "MINE", "F26_PatientAcctNumber": "ACC"}
OTHER = {"F19_ClaimSupplementalInfoNoteText": "CORRECTED"}
REPLACEMENT = OTHER | {"F22_MedicaidResubmissionCode": "7", "F22_OriginalReferenceNumber": "P1"}
REFUSED = status(patient("ACC", "A7:500:85*20261102*U*100"))
DENIED = payment(paid("ACC", "4", "100", "0", "CAS*CO*50*100"), amount="0")
UNPAID = payment(paid("ACC", "1", "100", "0", "CAS*CO*197*100"), amount="0")
"""A denial as the 835 guide wants it: processed, nothing paid, and a reason."""
UNPROCESSABLE = payment(paid("ACC", "1", "100", "0", "CAS*CO*16*100", "MOA***MA130"), amount="0")
"""The payer could not process the claim: there is nothing to replace."""
PAID = payment(paid("ACC", "1", "100", "80", "CAS*CO*45*20"))
LINKS = Statement(
    select(
        claims.c.claim_number, HOLDS_ITS_ID, claims.c.predecessor_id, claims.c.successor_id
    ).where(claims.c.state != "not_accepted"),
    system=True,
)  # fmt: skip


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


async def links(flow):
    """Whether each accepted claim is current, its predecessor and its successor."""
    async with flow.database.read(EVERYONE) as tx:
        return {id: (bool(current), *both) for id, current, *both in await tx.rows(LINKS)}


async def again(flow, **own):
    """Send the id again; the result."""
    [result] = await flow.post(**NUMBER | own)
    return result


async def ended(flow, *answers):
    """A claim that was sent and answered; its claim number."""
    [first], content = await flow.sent(**NUMBER)
    assert accounts(content) == ["ACC"]
    for answer in answers:
        assert await flow.arrive(answer) == ["applied"]
    return first


@pytest.mark.both_databases(first_case=True)
@pytest.mark.parametrize(
    ("answer", "own", "state"),
    [
        (DENIED, OTHER, "complete"),
        (UNPAID, OTHER, "complete"),
        (REFUSED, OTHER, "rejected"),
        (REFUSED, {}, "rejected"),
        (PAID, REPLACEMENT, "complete"),
        (None, REPLACEMENT, "sent"),
    ],
)
async def test_what_may_be_sent_again_is_a_new_claim_and_both_are_in_the_status_list(
    flow, answer, own, state
):
    first = await ended(flow, *filter(None, [answer]))
    result = await again(flow, **own)
    assert result.accepted
    assert result.claim_number != first
    assert await links(flow) == {
        first: (False, None, result.claim_number),
        result.claim_number: (True, first, None),
    }
    rows = await flow.statuses()
    assert {id: row.state for id, row in rows.items()} == {
        first: state,
        result.claim_number: "received",
    }
    assert {row.vendor_claim_id for row in rows.values()} == {"MINE"}
    before, after = [
        await load_claim_history(flow.database, flow.vault, id, actor=ACTOR)
        for id in (first, result.claim_number)
    ]
    assert (before.predecessor, before.successor) == ("", result.claim_number)
    assert (after.predecessor, after.successor) == (first, "")
    assert f"{result.claim_number} took over its claim id." in str(before.entries)
    assert f"takes over from {first}" in str(after.entries)
    content = await flow.send()
    assert accounts(content) == [result.claim_number if state != "rejected" else "ACC"]
    assert not await flow.send()


@pytest.mark.parametrize("answer", [None, PAID, DENIED])
async def test_the_same_content_is_a_repeated_request_and_nothing_is_sent(flow, answer):
    first = await ended(flow, *filter(None, [answer]))
    flow.clock.advance(timedelta(hours=23))
    result = await again(flow)
    assert (result.accepted, result.claim_number) == (True, first)
    assert not await flow.send()
    assert len(await flow.statuses()) == 1


async def test_other_content_on_its_way_is_refused_with_the_request_and_its_state(flow):
    first = await ended(flow)
    result = await again(flow, **OTHER)
    assert not result.accepted
    [finding] = result.findings
    assert finding.rule == "C107"
    assert first in finding.message
    assert "sent" in finding.message
    assert list(await links(flow)) == [first]


@pytest.mark.safe_default(1)
async def test_a_denied_claim_unchanged_is_a_new_claim_a_day_later(flow):
    first = await ended(flow, DENIED)
    flow.clock.advance(timedelta(hours=24))
    result = await again(flow)
    assert result.claim_number != first
    content = await flow.send()
    assert accounts(content) == [result.claim_number]
    # Nobody changed it and nobody asked for a replacement.
    assert sent_as(content) == ("1", "")
    assert "again, unchanged: it goes out as a new claim" in result.note


@pytest.mark.safe_default(15)
async def test_a_claim_that_the_payer_could_not_process_is_corrected_by_a_new_claim(flow):
    first = await ended(flow, UNPROCESSABLE)
    now = flow.clock.now()
    for dry_run in (True, False):
        correction = await submit_correction(
            flow.context, flow.site, first, OTHER, actor=ACTOR, now=now, dry_run=dry_run
        )
        assert (correction.sent_as, correction.payer_number) == ("new", "")
        assert "The payer could not process the earlier claim" in correction.reason
        assert "(remark MA130)" in correction.reason
    assert sent_as(await flow.send()) == ("1", "")


@pytest.mark.parametrize("own", [{}, OTHER])
async def test_a_payer_silent_for_thirty_days_blocks_no_claim_for_ever(flow, own):
    first = await ended(flow)
    flow.clock.advance(timedelta(days=29, hours=23))
    early = await again(flow, **own)
    assert early.claim_number == first or not early.accepted
    flow.clock.advance(timedelta(hours=1))
    late = await again(flow, **own)
    assert late.accepted
    assert late.claim_number != first


async def test_in_a_sandbox_silence_is_counted_by_the_payers_calendar(place, database, clock):
    flow = await Flow.open(place, database, clock)
    flow.use_time(SandboxClock(clock).time_ago)
    first = await ended(flow)
    flow.clock.advance(timedelta(seconds=59))
    assert (await again(flow)).claim_number == first
    flow.clock.advance(timedelta(seconds=2))
    assert (await again(flow)).claim_number != first


@pytest.mark.both_databases
@pytest.mark.parametrize("state", [None, PAID])
async def test_an_id_twice_in_one_document_counts_as_sent_one_after_the_other(flow, state):
    """The first of them is refused or repeated, the second may still be a new claim."""
    first = await ended(flow, *filter(None, [state]))
    refused = OTHER if state is None else {}
    one, two, three = await flow.post(each=[NUMBER | refused, NUMBER | REPLACEMENT, NUMBER | OTHER])
    assert (one.accepted, one.claim_number == first) == (state is PAID, state is PAID)
    assert two.accepted
    assert not three.accepted
    assert (await links(flow))[first] == (False, None, two.claim_number)
    assert accounts(await flow.send()) == [two.claim_number]


@pytest.mark.both_databases
async def test_a_new_id_twice_in_one_document_is_one_claim(flow):
    one, same, other = await flow.post(each=[NUMBER, NUMBER, NUMBER | OTHER])
    assert (same.accepted, same.claim_number) == (True, one.claim_number)
    assert not other.accepted
    assert len(accounts(await flow.send())) == 1


@pytest.mark.both_databases
@pytest.mark.parametrize("answer", [REFUSED, DENIED, UNPAID])
async def test_of_twenty_concurrent_successors_exactly_one_wins(flow, answer):
    first = await ended(flow, answer)
    results = await asyncio.gather(
        *(
            again(flow, F19_ClaimSupplementalInfoNoteText=f"CORRECTION {number % 5}")
            for number in range(20)
        )
    )
    won = {one.claim_number for one in results if one.accepted}
    assert len(won) == 1
    # The winner, and those who sent the same.
    assert [one.accepted for one in results].count(True) == 4
    assert set(await links(flow)) == {first, *won}
    assert len(accounts(await flow.send())) == 1


@pytest.mark.both_databases
async def test_one_document_posted_twice_at_once_makes_one_successor_of_each(flow):
    ids = [
        NUMBER | {"Svc_VendorClaimId": f"M{n}", "F26_PatientAcctNumber": f"A{n}"} for n in range(3)
    ]
    before = [one.claim_number for one in await flow.post(each=ids)]
    await flow.send()
    await flow.arrive(*(status(patient(f"A{n}", "A7:500:85*20261102*U*100")) for n in range(3)))
    one, other = await asyncio.gather(flow.post(each=ids), flow.post(each=ids))
    assert [each.claim_number for each in one] == [each.claim_number for each in other]
    found = await links(flow)
    assert [found[each.claim_number][1] for each in one] == before
    assert len(found) == 6
    assert len(accounts(await flow.send())) == 3


@pytest.mark.both_databases
async def test_the_state_of_a_superseded_claim_may_still_change(flow):
    first = await ended(flow, REFUSED)
    second = (await again(flow, **OTHER, F26_PatientAcctNumber="NEW")).claim_number
    await flow.arrive(PAID)
    assert (await flow.status(first)).state == "complete"
    back = payment(
        paid("ACC", "22", "-100", "-80", "CAS*CO*45*-20"), reference="EFT2", day="20261201", amount="-80"
    )  # fmt: skip
    await flow.arrive(back, name="back")
    rows = await flow.statuses()
    assert rows[first].payer_cents == 0
    assert rows[second].state == "received"
    assert await links(flow) == {first: (False, None, second), second: (True, first, None)}
    # The id means the new claim, whatever became of the first.
    assert (await again(flow, **OTHER, F26_PatientAcctNumber="NEW")).claim_number == second


def sent_as(content):
    """Frequency and payer's number of the one claim of a file."""
    text = content.decode()
    [frequency] = re.findall(r"~CLM\*[^~]*?\*\d\d:B:(\d)\*", text)
    return frequency, "".join(re.findall(r"~REF\*F8\*([^~]+)~", text))


BARE = OTHER | {"F22_MedicaidResubmissionCode": "7"}
VOID = OTHER | {"F22_MedicaidResubmissionCode": "8"}


@pytest.mark.parametrize(
    ("answer", "own", "out", "said"),
    [
        (DENIED, OTHER, ("7", "P1"), "as its replacement"),
        (UNPAID, OTHER, ("7", "P1"), "as its replacement"),
        pytest.param(
            UNPROCESSABLE, OTHER, ("1", ""), "could not process", marks=pytest.mark.safe_default(15)
        ),
        (DENIED, BARE, ("7", "P1"), "number was taken from"),
        (PAID, VOID, ("8", "P1"), "number was taken from"),
        (REFUSED, OTHER, ("1", ""), "goes out as a new claim"),
        (REFUSED, BARE, ("1", ""), "goes out as a new claim"),
        (DENIED, OTHER | {"F01A_InsuredId": "ANOTHER"}, ("1", ""), "differ from"),
    ],
)
async def test_how_a_correction_goes_out_is_decided_by_the_payers_number_and_said(
    flow, answer, own, out, said
):
    first = await ended(flow, answer)
    second = await again(flow, **own)
    assert second.accepted, second.findings
    assert sent_as(await flow.send()) == out
    history = await load_claim_history(flow.database, flow.vault, second.claim_number, actor=ACTOR)
    [finding] = [one for one in history.loaded.findings if one.rule == "C109"]
    assert said in finding.message
    # The answer says it too.
    assert second.note == f"It takes over from {first}. {finding.message}"
    repaired = {path for path, _ in history.loaded.repairs}
    assert ("F22_OriginalReferenceNumber" in repaired) == (out[1] == "P1")
    # The same request again is the same claim, however it went out.
    third = await again(flow, **own)
    assert third.claim_number == second.claim_number
    assert third.note == f"It is the claim {second.claim_number} again: nothing was sent twice."
    assert first != second.claim_number


async def test_a_replacement_of_a_claim_that_nobody_knows_is_refused(flow):
    result = await again(flow, **BARE)
    assert [one.rule for one in result.findings] == ["C901"]
    await ended(flow)
    # On its way, and the payer has given no number yet.
    result = await again(flow, **BARE)
    assert [one.rule for one in result.findings] == ["C901"]


@pytest.mark.parametrize("own", [OTHER, BARE, REPLACEMENT])
async def test_a_payer_that_takes_originals_only_gets_a_new_claim(flow, own):
    flow.replace_payer(replacements="original_only")
    await ended(flow, DENIED)
    second = await again(flow, **own)
    assert sent_as(await flow.send()) == ("1", "")
    history = await load_claim_history(flow.database, flow.vault, second.claim_number, actor=ACTOR)
    assert any("takes no replacements" in one.message for one in history.loaded.findings)


async def test_a_payer_that_takes_originals_only_gets_no_void(flow):
    flow.replace_payer(replacements="original_only")
    await ended(flow, PAID)
    result = await again(flow, **VOID)
    assert "C110" in {one.rule for one in result.findings}


VISIT = {"F24A_DateOfServiceFrom": "2024-02-20", "F24A_DateOfServiceTo": "2024-02-20"}
PATIENTS = payment(paid("ACC", "1", "100", "0", "CAS*PR*1*100", share="100"), amount="0")
"""All of it was left to the patient."""
DECISION = {
    "F09_OtherInsuredNameLast": "Lund", "F09_OtherInsuredNameFirst": "Ivo", "F09A_OtherInsuredGroupNum": "POL1",
    "F09_PatientRelationshipToInsured": "Spouse", "X12_OtherPayerName": "Harbor Health Plan",
    "X12_ClaimPrimaryPayerPaidAmount": "80", "X12_ClaimContractualObligationAdjustments": "45:20",
    "X12_ClaimAdjudicationDate": "2024-02-28",
}  # fmt: skip
TO_ANOTHER = {"Svc_PayerId": OTHER_PAYER}
SHARED = [
    # How the payer decided, the claim that follows under the same id, and what is said of it.
    (PAID, {"line": VISIT}, "No service day is in common"),
    (PATIENTS, {"line": VISIT} | OTHER, "No service day is in common"),
    (DENIED, {"line": VISIT}, "No service day is in common"),
    (PAID, {"F01A_InsuredId": "ANOTHER"}, "The insured differs"),
    (PAID, {"F02_PatientNameFirst": "Twin", "F04_InsuredNameFirst": "Twin"}, "The patient differs"),
    (PAID, TO_ANOTHER, "Another payer has paid for these services"),
    (PATIENTS, TO_ANOTHER, "billed to another payer"),
    (PAID, TO_ANOTHER | DECISION, "It is secondary to"),
]


@pytest.mark.safe_default(1)
@pytest.mark.parametrize(("answer", "own", "said"), SHARED)
async def test_another_claim_under_the_id_of_a_decided_one_leaves_that_one_as_it_is(
    flow, answer, own, said
):
    """Another visit, patient or payer: a new claim of frequency 1; nothing that was paid is replaced."""
    first = await ended(flow, answer)
    before = await flow.status(first)
    [result] = await flow.post(**NUMBER | own)
    assert result.accepted, result.findings
    assert result.claim_number != first
    payer = own.get("Svc_PayerId", PAYER)
    content = await flow.send(payer)
    assert sent_as(content) == ("1", "")
    # Only a claim with the first payer's decision goes out as secondary.
    is_secondary = "It is secondary to" in said
    assert (b"~SBR*S*" in content, b"~AMT*D*80~" in content) == (is_secondary, is_secondary)
    assert said in result.note
    assert first in result.note
    assert ("Another payer has paid" in result.note) == said.startswith("Another payer has paid")
    # Both are live: neither is the other's successor, both are listed and counted, and the money stays.
    assert {tuple(ends) for _, *ends in (await links(flow)).values()} == {(None, None)}
    rows = await flow.statuses()
    assert set(rows) == {first, result.claim_number}
    assert rows[first] == before
    listed, totals = await listed_by_label(flow)
    assert listed == {first, result.claim_number}
    assert totals == (2, sum(one.total_cents for one in rows.values()), before.payer_cents)
    linked = await linked_claims(flow)
    assert linked == ({result.claim_number: first} if is_secondary else {})
    # The same again is the same, whichever of them it is: nothing is sent twice.
    flow.clock.advance(timedelta(hours=1))
    assert (await flow.post(**NUMBER | own))[0].claim_number == result.claim_number
    assert (await again(flow)).claim_number == first
    assert not await flow.send(payer)


async def listed_by_label(flow):
    """The numbers of all claims that lists show; and their count, charge and payment as they are added up."""
    labels = [label.value for label in ClaimLabel]
    async with flow.database.read(flow.site.scope) as tx:
        keys = await list_claims(tx, by_label(labels, limit=100), ClaimListKey)
        sums = await sum_claims(tx, by_label(labels, limit=0))
    totals = [sum(one[at] for one in sums) for at in (1, 2, 3)]
    return {key.claim_number for key in keys}, tuple(totals)


async def linked_claims(flow):
    """The secondary claims, each with the claim of the earlier payer."""
    statement = Statement(select(claims.c.claim_number, claims.c.prior_payer_claim), system=True)
    async with flow.database.read(EVERYONE) as tx:
        return {id: linked for id, linked in await tx.rows(statement) if linked}


@pytest.mark.safe_default(1)
@pytest.mark.parametrize("answer", [PAID, PATIENTS])
async def test_other_content_for_what_was_paid_is_refused_and_says_how_to_replace_it(flow, answer):
    first = await ended(flow, answer)
    before = await flow.status(first)
    result = await again(flow, **OTHER)
    assert not result.accepted
    [finding] = result.findings
    assert finding.location == "Claims[0].Svc_VendorClaimId"
    assert first in finding.message
    assert "To replace it, give 7 in F22_MedicaidResubmissionCode" in finding.message
    assert "Another service needs a claim id of its own." in finding.message
    assert not await flow.send()
    assert await flow.statuses() == {first: before}
    # As it says.
    assert (await again(flow, **BARE)).accepted
    assert sent_as(await flow.send()) == ("7", "P1")


@pytest.mark.both_databases
@pytest.mark.safe_default(1)
async def test_what_was_left_to_the_patient_is_not_sent_a_second_time(flow):
    first = await ended(flow, PATIENTS)
    flow.clock.advance(timedelta(days=9))
    assert (await again(flow)).claim_number == first
    assert not await flow.send()


@pytest.mark.safe_default(1)
@pytest.mark.parametrize("first_days", [30, 0])
async def test_what_was_rejected_or_never_answered_is_a_new_claim_and_no_replacement(
    flow, first_days
):
    """The payer acknowledged it under a number, or it was a replacement that the payer rejected."""
    await ended(flow, PAID)
    assert (await again(flow, **REPLACEMENT)).accepted
    account = accounts(await flow.send())[0]
    if first_days:
        await flow.arrive(status(patient(account, "A2:20*20261102*WQ*100")), name="taken")
        flow.clock.advance(timedelta(days=first_days))
    else:
        await flow.arrive(status(patient(account, "A7:500:85*20261102*U*100")), name="refused")
    assert (await again(flow, F19_ClaimSupplementalInfoNoteText="THIRD")).accepted
    assert sent_as(await flow.send()) == ("1", "")


@pytest.mark.both_databases
@pytest.mark.safe_default(1)
async def test_a_replacement_takes_the_place_of_the_claim_whose_number_it_names(flow):
    """Two visits under one id: the replacement of the first leaves the second one as it is."""
    first = await ended(flow, PAID)
    [second], _ = await flow.sent(**NUMBER | {"line": VISIT, "F26_PatientAcctNumber": "ACC2"})
    paid_too = PAID.replace(b"ACC", b"ACC2").replace(b"*P1*", b"*P2*").replace(b"EFT1", b"EFT2")
    assert await flow.arrive(paid_too, name="second") == ["applied"]
    replacement = await again(flow, **REPLACEMENT)
    assert replacement.note.startswith(f"It takes over from {first}.")
    assert sent_as(await flow.send()) == ("7", "P1")
    # Without a number, the days tell which one is meant.
    [other] = await flow.post(**NUMBER | BARE | {"line": VISIT})
    assert other.note.startswith(f"It takes over from {second}.")
    assert sent_as(await flow.send()) == ("7", "P2")
    found = await links(flow)
    assert {id: row[1:] for id, row in found.items()} == {
        first: (None, replacement.claim_number),
        second: (None, other.claim_number),
        replacement.claim_number: (first, None),
        other.claim_number: (second, None),
    }
    assert (await listed_by_label(flow))[0] == {replacement.claim_number, other.claim_number}


@pytest.mark.both_databases
@pytest.mark.safe_default(1)
async def test_of_concurrent_visits_under_a_paid_id_one_wins_and_a_payment_in_between_is_seen(flow):
    """A payment that is posted while they are stored makes none of them a replacement."""
    first = await ended(flow)
    visits = [
        {"F24A_DateOfServiceFrom": f"2024-02-{day}", "F24A_DateOfServiceTo": f"2024-02-{day}"}
        for day in (18, 19, 20)
    ]
    _, *early = await asyncio.gather(
        flow.arrive(PAID), *(flow.post(**NUMBER | {"line": line}) for line in visits)
    )
    late = await asyncio.gather(*(flow.post(**NUMBER | {"line": line}) for line in visits))
    won = {one.claim_number for [one] in (*early, *late) if one.accepted}
    assert len(won) == 1
    assert set(await flow.statuses()) == {first, *won}
    assert sent_as(await flow.send()) == ("1", "")
    assert (await flow.status(first)).payer_cents == 8_000
    # The others are told which claim is on its way.
    [message] = {one.findings[0].message for [one] in late if not one.accepted}
    assert next(iter(won)) in message


@pytest.mark.both_databases
@pytest.mark.safe_default(1)
async def test_the_same_id_twice_in_one_document_after_a_payment(flow):
    """The first is the paid claim again, the second another visit, the third comes while that one is on its way."""
    first = await ended(flow, PAID)
    document = samples.document(MEDICAL, day=START.date() - timedelta(days=30), full=False)
    name = MEDICAL.lines_field
    visit = NUMBER | {name: [one | VISIT for one in document["Claims"][0][name]]}
    one, two, three = await flow.post(each=[NUMBER, visit, visit | OTHER])
    assert one.claim_number == first
    assert two.accepted
    assert not three.accepted
    assert two.claim_number in three.findings[0].message
    assert sent_as(await flow.send()) == ("1", "")


def answers(account, number, *, amount):
    """What a payer says of one claim: taken in, and paid."""
    taken = status(patient(account, "A2:20*20261102*WQ*100"))
    remit = payment(
        paid(account, "1", "100", str(amount), f"CAS*CO*45*{100 - amount}"),
        reference=f"LATER{number}", day="20261130", amount=str(amount),
    )  # fmt: skip
    return taken, remit


@pytest.mark.both_databases
@pytest.mark.parametrize("answer", [DENIED, None])
async def test_answers_that_name_the_account_number_go_to_the_right_one_in_every_order(
    flow, answer
):
    """Denied or never answered, the first keeps its account number; the second goes out under its own."""
    wanted = {}
    for number, order in enumerate(
        [*permutations(range(4))][:: by_profile(thorough=1, usual=8, quick=11)]
    ):
        own = {"Svc_VendorClaimId": f"V{number}", "F26_PatientAcctNumber": f"A{number}"}
        [first], _ = await flow.sent(**own)
        if answer:
            await flow.arrive(answer.replace(b"ACC", f"A{number}".encode()), name=f"end{number}-")
        else:
            flow.clock.advance(timedelta(days=30))
        [second], content = await flow.sent(**own | OTHER)
        said = [
            *answers(f"A{number}", number * 2, amount=60),
            *answers(second, number * 2 + 1, amount=80),
        ]
        assert accounts(content) == [second]
        for at in order:
            assert await flow.arrive(said[at], name=f"a{number}-{at}-") == ["applied"]
        wanted |= {first: 60, second: 80}
    rows = await flow.statuses()
    assert {id: row.payer_cents // 100 for id, row in rows.items()} == wanted
    assert {row.state for row in rows.values()} == {"complete"}


@pytest.mark.both_databases
@pytest.mark.parametrize("is_sent", [False, True])
async def test_after_a_rejection_the_account_number_means_the_claim_that_has_it(flow, is_sent):
    """Before the correction is sent an answer can only mean the first; afterward it means the correction."""
    first = await ended(flow, REFUSED)
    second = (await again(flow, **OTHER)).claim_number
    if is_sent:
        assert accounts(await flow.send()) == ["ACC"]
    assert await flow.arrive(PAID, name="paid") == ["applied"]
    rows = await flow.statuses()
    assert rows[second if is_sent else first].state == "complete"
    assert rows[first if is_sent else second].state == ("rejected" if is_sent else "received")
