"""A vendor's claim id sent again, through service and store, on both databases.

Also tests `pipeline/intake/correct_claims`.
"""

import asyncio
import re
from datetime import timedelta
from itertools import permutations

import pytest
from sqlalchemy import select

from clearlane.pipeline.query.claim_history import load_claim_history
from clearlane.sandbox.clock import SandboxClock
from clearlane.store.schema import claims
from clearlane.store.sql import Statement
from tests.cases import full_or_quick
from tests.claims.answers import paid, patient, payment, status
from tests.pipeline.flowing import ACTOR, EVERYONE, Flow, accounts

NUMBER = {"Svc_VendorClaimId": "MINE", "F26_PatientAcctNumber": "ACC"}
OTHER = {"F19_ClaimSupplementalInfoNoteText": "CORRECTED"}
REPLACEMENT = OTHER | {"F22_MedicaidResubmissionCode": "7", "F22_OriginalReferenceNumber": "P1"}
REFUSED = status(patient("ACC", "A7:500:85*20261102*U*100"))
DENIED = payment(paid("ACC", "4", "100", "0", "CAS*CO*50*100"), amount="0")
UNPAID = payment(paid("ACC", "1", "100", "0", "CAS*CO*197*100"), amount="0")
"""A denial as the 835 guide wants it: processed, nothing paid, and a reason."""
PAID = payment(paid("ACC", "1", "100", "80", "CAS*CO*45*20"))
LINKS = Statement(
    select(claims.c.request_id, claims.c.is_current, claims.c.predecessor_id, claims.c.successor_id),
    system=True,
)  # fmt: skip


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


async def links(flow):
    """Whether each claim is current, its predecessor and its successor."""
    async with flow.database.read(EVERYONE) as tx:
        return {id: (bool(current), *both) for id, current, *both in await tx.rows(LINKS)}


async def again(flow, **own):
    """Send the id again; the result."""
    [result] = await flow.post(**NUMBER | own)
    return result


async def ended(flow, *answers):
    """A claim that was sent and answered; its request id."""
    [first], content = await flow.sent(**NUMBER)
    assert accounts(content) == ["ACC"]
    for answer in answers:
        assert await flow.arrive(answer) == ["Applied"]
    return first


@pytest.mark.parametrize(
    ("answer", "own", "state"),
    [
        (DENIED, OTHER, "Complete"),
        (UNPAID, OTHER, "Complete"),
        (REFUSED, OTHER, "Rejected"),
        (REFUSED, {}, "Rejected"),
        (PAID, OTHER, "Complete"),
        (PAID, REPLACEMENT, "Complete"),
        (None, REPLACEMENT, "Sent"),
    ],
)
async def test_what_may_be_sent_again_is_a_new_claim_and_both_are_in_the_status_list(
    flow, answer, own, state
):
    first = await ended(flow, *filter(None, [answer]))
    result = await again(flow, **own)
    assert result.accepted
    assert result.request_id != first
    assert await links(flow) == {
        first: (False, None, result.request_id),
        result.request_id: (True, first, None),
    }
    rows = await flow.statuses()
    assert {id: row.state for id, row in rows.items()} == {
        first: state,
        result.request_id: "Received",
    }
    assert {row.vendor_claim_id for row in rows.values()} == {"MINE"}
    before, after = [
        await load_claim_history(flow.database, flow.vault, id, actor=ACTOR)
        for id in (first, result.request_id)
    ]
    assert (before.predecessor, before.successor) == ("", result.request_id)
    assert (after.predecessor, after.successor) == (first, "")
    assert f"{result.request_id} took over its claim id." in str(before.entries)
    assert f"takes over from {first}" in str(after.entries)
    content = await flow.send()
    assert accounts(content) == [result.request_id if state != "Rejected" else "ACC"]
    assert not await flow.send()


@pytest.mark.parametrize("answer", [None, PAID, DENIED])
async def test_the_same_content_is_a_repeated_request_and_nothing_is_sent(flow, answer):
    first = await ended(flow, *filter(None, [answer]))
    flow.clock.advance(timedelta(hours=23))
    result = await again(flow)
    assert (result.accepted, result.request_id) == (True, first)
    assert not await flow.send()
    assert len(await flow.statuses()) == 1


async def test_other_content_on_its_way_is_refused_with_the_request_and_its_state(flow):
    first = await ended(flow)
    result = await again(flow, **OTHER)
    assert not result.accepted
    [finding] = result.findings
    assert finding.rule == "C107"
    assert first in finding.message
    assert "Sent" in finding.message
    assert list(await links(flow)) == [first]


async def test_a_denied_claim_unchanged_is_sent_anew_a_day_later(flow):
    first = await ended(flow, DENIED)
    flow.clock.advance(timedelta(hours=24))
    result = await again(flow)
    assert result.request_id != first
    assert accounts(await flow.send()) == [result.request_id]


@pytest.mark.parametrize("own", [{}, OTHER])
async def test_a_payer_silent_for_thirty_days_blocks_no_claim_for_ever(flow, own):
    first = await ended(flow)
    flow.clock.advance(timedelta(days=29, hours=23))
    early = await again(flow, **own)
    assert early.request_id == first or not early.accepted
    flow.clock.advance(timedelta(hours=1))
    late = await again(flow, **own)
    assert late.accepted
    assert late.request_id != first


async def test_in_a_sandbox_silence_is_counted_by_the_payers_calendar(place, database, clock):
    flow = await Flow.open(place, database, clock)
    flow.use_time(SandboxClock(clock).time_ago)
    first = await ended(flow)
    flow.clock.advance(timedelta(seconds=59))
    assert (await again(flow)).request_id == first
    flow.clock.advance(timedelta(seconds=2))
    assert (await again(flow)).request_id != first


@pytest.mark.parametrize("state", [None, PAID])
async def test_an_id_twice_in_one_document_counts_as_sent_one_after_the_other(flow, state):
    """The first of them is refused or repeated, the second may still be a new claim."""
    first = await ended(flow, *filter(None, [state]))
    refused = OTHER if state is None else {}
    one, two, three = await flow.post(each=[NUMBER | refused, NUMBER | REPLACEMENT, NUMBER | OTHER])
    assert (one.accepted, one.request_id == first) == (state is PAID, state is PAID)
    assert two.accepted
    assert not three.accepted
    assert (await links(flow))[first] == (False, None, two.request_id)
    assert accounts(await flow.send()) == [two.request_id]


async def test_a_new_id_twice_in_one_document_is_one_claim(flow):
    one, same, other = await flow.post(each=[NUMBER, NUMBER, NUMBER | OTHER])
    assert (same.accepted, same.request_id) == (True, one.request_id)
    assert not other.accepted
    assert len(accounts(await flow.send())) == 1


@pytest.mark.parametrize("answer", [REFUSED, DENIED, UNPAID])
async def test_of_twenty_concurrent_successors_exactly_one_wins(flow, answer):
    first = await ended(flow, answer)
    results = await asyncio.gather(
        *(
            again(flow, F19_ClaimSupplementalInfoNoteText=f"CORRECTION {number % 5}")
            for number in range(20)
        )
    )
    won = {one.request_id for one in results if one.accepted}
    assert len(won) == 1
    # The winner, and those who sent the same.
    assert [one.accepted for one in results].count(True) == 4
    assert set(await links(flow)) == {first, *won}
    assert len(accounts(await flow.send())) == 1


async def test_one_document_posted_twice_at_once_makes_one_successor_of_each(flow):
    ids = [
        NUMBER | {"Svc_VendorClaimId": f"M{n}", "F26_PatientAcctNumber": f"A{n}"} for n in range(3)
    ]
    before = [one.request_id for one in await flow.post(each=ids)]
    await flow.send()
    await flow.arrive(*(status(patient(f"A{n}", "A7:500:85*20261102*U*100")) for n in range(3)))
    one, other = await asyncio.gather(flow.post(each=ids), flow.post(each=ids))
    assert [each.request_id for each in one] == [each.request_id for each in other]
    found = await links(flow)
    assert [found[each.request_id][1] for each in one] == before
    assert len(found) == 6
    assert len(accounts(await flow.send())) == 3


async def test_the_state_of_a_superseded_claim_may_still_change(flow):
    first = await ended(flow, REFUSED)
    second = (await again(flow, **OTHER, F26_PatientAcctNumber="NEW")).request_id
    await flow.arrive(PAID)
    assert (await flow.status(first)).state == "Complete"
    back = payment(
        paid("ACC", "22", "-100", "-80", "CAS*CO*45*-20"), reference="EFT2", day="20261201", amount="-80"
    )  # fmt: skip
    await flow.arrive(back, name="back")
    rows = await flow.statuses()
    assert rows[first].payer_cents == 0
    assert rows[second].state == "Received"
    assert await links(flow) == {first: (False, None, second), second: (True, first, None)}
    # The id means the new claim, whatever became of the first.
    assert (await again(flow, **OTHER, F26_PatientAcctNumber="NEW")).request_id == second


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
    history = await load_claim_history(flow.database, flow.vault, second.request_id, actor=ACTOR)
    [finding] = [one for one in history.loaded.findings if one.rule == "C109"]
    assert said in finding.message
    # The answer says it too.
    assert second.note == f"It takes over from {first}. {finding.message}"
    repaired = {path for path, _ in history.loaded.repairs}
    assert ("F22_OriginalReferenceNumber" in repaired) == (out[1] == "P1")
    # The same request again is the same claim, however it went out.
    third = await again(flow, **own)
    assert third.request_id == second.request_id
    assert third.note == f"It is the claim {second.request_id} again: nothing was sent twice."
    assert first != second.request_id


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
    history = await load_claim_history(flow.database, flow.vault, second.request_id, actor=ACTOR)
    assert any("takes no replacements" in one.message for one in history.loaded.findings)


async def test_a_payer_that_takes_originals_only_gets_no_void(flow):
    flow.replace_payer(replacements="original_only")
    await ended(flow, PAID)
    result = await again(flow, **VOID)
    assert "C110" in {one.rule for one in result.findings}


def answers(account, number, *, amount):
    """What a payer says of one claim: taken in, and paid."""
    taken = status(patient(account, "A2:20*20261102*WQ*100"))
    remit = payment(
        paid(account, "1", "100", str(amount), f"CAS*CO*45*{100 - amount}"),
        reference=f"LATER{number}", day="20261130", amount=str(amount),
    )  # fmt: skip
    return taken, remit


@pytest.mark.parametrize("answer", [DENIED, None])
async def test_answers_that_name_the_account_number_go_to_the_right_one_in_every_order(
    flow, answer
):
    """Denied or never answered, the first keeps its account number; the second goes out under its own."""
    wanted = {}
    for number, order in enumerate([*permutations(range(4))][:: full_or_quick(1, 7)]):
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
            assert await flow.arrive(said[at], name=f"a{number}-{at}-") == ["Applied"]
        wanted |= {first: 60, second: 80}
    rows = await flow.statuses()
    assert {id: row.payer_cents // 100 for id, row in rows.items()} == wanted
    assert {row.state for row in rows.values()} == {"Complete"}


@pytest.mark.parametrize("is_sent", [False, True])
async def test_after_a_rejection_the_account_number_means_the_claim_that_has_it(flow, is_sent):
    """Before the correction is sent an answer can only mean the first; afterwards it means the correction."""
    first = await ended(flow, REFUSED)
    second = (await again(flow, **OTHER)).request_id
    if is_sent:
        assert accounts(await flow.send()) == ["ACC"]
    assert await flow.arrive(PAID, name="paid") == ["Applied"]
    rows = await flow.statuses()
    assert rows[second if is_sent else first].state == "Complete"
    assert rows[first if is_sent else second].state == ("Rejected" if is_sent else "Received")
