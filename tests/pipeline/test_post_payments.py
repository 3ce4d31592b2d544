"""Whole payments through mailbox and store, on both databases: what is kept, counted, matched and taken back.

Also tests `pipeline/query/payments`, `pipeline/operator/payment_admin`, `pipeline/inbound/match_payments`,
`pipeline/claim_payment_content`,
`store/payments/payments` and `store/payments/claim_payments`.
"""

from itertools import permutations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clearlane.claims.lifecycle import fold, remittance_roles
from clearlane.payments import read_835
from clearlane.pipeline.operator import payment_admin
from clearlane.pipeline.query import payments
from clearlane.pipeline.query.payment_list import list_payments
from clearlane.pipeline.query.retrieve_documents import retrieve_documents
from clearlane.pipeline.query.vendor_payments import load_vendor_payment
from clearlane.store.audit import audit
from clearlane.store.database.database import Actor, OperationRefused
from clearlane.store.payments.payment_query import PaymentQuery
from clearlane.x12.reader.set_slices import slice_sets
from tests.api.markers import tables_with
from tests.cases import full_or_quick
from tests.claims.answers import paid, patient, payment, sealed, status
from tests.pipeline.flowing import ACTOR, PAYER, Flow, accounts

pytestmark = pytest.mark.one_database

PERSON = Actor("operator", "somebody")
OFF = "CAS*CO*45*20"


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


async def payments_of(flow, *, scope=None, before=None, **where):
    """The payments, in the order in which they came."""
    query = PaymentQuery(where=where, scope=scope, before=before)
    found = await list_payments(flow.database, flow.vault, query)
    return sorted((one.payment for one in found), key=lambda one: (one.file_id, one.amount))


async def claim_payments_of(flow, payment):
    details = await payments.load_payment(
        flow.database, flow.vault, payment.payment_id, actor=PERSON
    )
    pages = payments.claim_payment_pages(flow.database, flow.vault, details.claim_payments_of)
    return [one async for page in pages for one in page]


async def money(flow, id, site=None):
    row = await flow.status(id, site)
    return row.state, row.total_cents, row.payer_cents, row.patient_cents, row.adjustment_cents


# ---- what is kept ------------------------------------------------------------------------------


@pytest.mark.both_databases
async def test_a_check_over_several_claims_is_one_payment_that_adds_up(flow):
    ids, content = await flow.sent(2)
    first, second = accounts(content)
    remit = payment(
        paid(first, "1", "100", "80", OFF), paid(second, "1", "100", "0", "CAS*CO*97*100"), amount="52.10",
        plb=[f"PLB*1234567893*20261231*WO:{first}*30*L6*-2.10"],
    )  # fmt: skip
    assert await flow.arrive(remit) == ["applied"]
    [found] = await payments_of(flow)
    assert (found.state, found.amount, found.claims_paid, found.adjustments_total) == (
        "posted",
        5210,
        8000,
        -2790,
    )
    assert (found.balanced, found.difference, found.claims, found.unmatched) == (True, 0, 2, 0)
    assert (found.payer_id, found.payer_name, found.trace_number) == (
        PAYER,
        "MEADOW MUTUAL",
        "EFT1",
    )
    assert found.your_amount == found.amount
    one, other = await claim_payments_of(flow, found)
    assert [one.claim_number, other.claim_number] == ids
    assert (one.type, one.label, one.charge, one.paid) == ("original", "paid", 10000, 8000)
    assert (other.label, other.denied, other.matched_by) == ("denied", 10000, "number")
    assert one.vendor_claim_id
    assert one.document_id == (await flow.status(ids[0])).document_id
    details = await payments.load_payment(flow.database, flow.vault, found.payment_id, actor=PERSON)
    rows = [(one.reason, one.amount, one.text, one.claim_number) for one in details.adjustments]
    assert rows == [("WO", -3000, "Overpayment recovery", ids[0]), ("L6", 210, "Interest owed", "")]


async def test_the_payers_own_number_finds_a_claim_whose_account_was_cut(flow):
    [id], _ = await flow.sent(F26_PatientAcctNumber="ACCOUNT-OF-TWENTY-77")
    accepted = patient("ACCOUNT-OF-TWENTY-77", "A2:20*20261102*WQ*100", extra=["REF*1K*PAYER77"])
    assert await flow.arrive(status(accepted)) == ["applied"]
    remit = payment(
        paid("ACCOUNT-OF-TWENTY", "1", "100", "80", OFF, payer_number="PAYER77"), amount="50",
        plb=["PLB*1234567893*20261231*WO:PAYER77*30"],
    )  # fmt: skip
    assert await flow.arrive(remit) == ["applied"]
    [found] = await payments_of(flow)
    [one] = await claim_payments_of(flow, found)
    assert (one.claim_number, one.matched_by, found.unmatched) == (id, "payer_number", 0)
    details = await payments.load_payment(flow.database, flow.vault, found.payment_id, actor=PERSON)
    assert [row.claim_number for row in details.adjustments] == [id]


@pytest.mark.both_databases
async def test_payments_are_found_by_payer_trace_amount_day_and_what_needs_somebody(flow):
    [_id], content = await flow.sent()
    [account] = accounts(content)
    good = payment(paid(account, "1", "100", "80", OFF), reference="0042A")
    odd = payment(
        paid("NOBODY", "1", "100", "80", OFF), amount="81", reference="77", day="20261120"
    )
    await flow.arrive(good, odd)
    first, second = await payments_of(flow)
    assert (second.state, second.balanced, second.unmatched, second.difference) == (
        "needs_review",
        False,
        1,
        100,
    )
    for search, expected in (
        ({"trace_number": "42a"}, [first]), ({"trace_number": "0042A"}, [first]), ({"trace_number": "42"}, []),
        ({"amount": 8100}, [second]), ({"unbalanced": True}, [second]), ({"unmatched": True}, [second]),
        ({"not_fetched": True}, [first]), ({"payer": PAYER}, [first, second]), ({"payer": "X"}, []),
        ({"effective_from": second.effective_date}, [second]), ({"effective_to": first.effective_date}, [first]),
    ):  # fmt: skip
        assert await payments_of(flow, **search) == expected, search


@pytest.mark.both_databases
async def test_pages_continue_where_the_last_one_ended(flow, monkeypatch):
    monkeypatch.setattr(payments, "CLAIM_PAYMENTS_PER_PAGE", 2)
    ids, content = await flow.sent(3)
    rows = [paid(one, "1", "100", "80", OFF) for one in accounts(content)]
    await flow.arrive(
        payment(rows[0], paid("NOBODY1"), rows[1], paid("NOBODY2"), rows[2], amount="400")
    )
    [found] = await payments_of(flow)
    shown = await claim_payments_of(flow, found)
    assert [one.number for one in shown] == [1, 2, 3, 4, 5]
    assert [one.claim_number for one in shown] == [ids[0], "", ids[1], "", ids[2]]
    assert await payments_of(flow, before=found.payment_id) == []


async def test_the_set_is_handed_out_as_it_was_received(flow):
    sets = [
        ["835", f"BPR*I*{amount}*C*CHK************20261114", f"TRN*1*K{amount}*1512345678", "N1*PR*MEADOW MUTUAL",
         "N1*PE*FERNHILL*XX*1234567893", "LX*1", *paid(f"NO{amount}", "1", amount, amount)]
        for amount in ("10", "20")
    ]  # fmt: skip
    content = sealed("HP", "005010X221A1", *sets).replace(b"~", b"~\n")
    await flow.arrive(content)
    found = await payments_of(flow)
    assert [one.amount for one in found] == [1000, 2000]
    for one, other in zip(found, slice_sets(content), strict=True):
        x12 = await payments.read_x12(flow.database, flow.vault, one.payment_id, actor=PERSON)
        assert other.whole.of(content) in x12
        assert x12.count(b"BPR*") == 1
    assert await payments.read_x12(flow.database, flow.vault, "P0", actor=PERSON) is None


@pytest.mark.both_databases
async def test_nothing_that_a_payer_wrote_is_kept_in_clear(flow, place):
    marker = "QZ7F31B8"
    [_id], content = await flow.sent()
    [account] = accounts(content)
    row = paid(account, "1", "100", "80", OFF, payer_number=f"{marker}P")
    await flow.arrive(
        payment(row, paid(f"{marker}X"), reference=f"{marker}T", amount="160",
                plb=[f"PLB*{marker}*20261231*WO:{marker}R*0"])
    )  # fmt: skip
    assert len(await payments_of(flow)) == 1
    kept = [file for file in place.data.rglob("*") if file.is_file()]
    assert not [file for file in kept if marker.encode() in file.read_bytes()]
    if place.url:
        assert await tables_with(place.url, marker) == []


# ---- reversals and corrections -----------------------------------------------------------------


def files_about(account):
    """Three 835s in the order of time: a payment, its reversal with a correction, and the first once more."""
    back = paid(account, "22", "-100", "-80", "CAS*CO*45*-20")
    again = paid(account, "1", "100", "60", "CAS*CO*45*20", "CAS*PR*3*20", payer_number="P2")
    first = paid(account, "1", "100", "80", OFF)
    return {
        "original": payment(first),
        "both": payment(back, again, amount="-20", reference="EFT2", day="20261120", control=501),
        "duplicate": payment(first, control=900, moment="20261201*0900", separators="|>!~"),
    }


async def test_a_reversal_and_its_correction_are_claim_payments_of_their_own(flow):
    [id], content = await flow.sent()
    files = files_about(accounts(content)[0])
    await flow.arrive(files["original"], files["both"])
    assert await money(flow, id) == ("complete", 10000, 6000, 2000, 2000)
    first, second = await payments_of(flow)
    [original] = await claim_payments_of(flow, first)
    reversal, correction = await claim_payments_of(flow, second)
    assert [one.type for one in (original, reversal, correction)] == [
        "original",
        "reversal",
        "correction",
    ]
    assert reversal.reverses == original.claim_payment_id
    assert (reversal.label, reversal.charge, reversal.paid) == ("taken_back", -10000, -8000)
    assert [one.in_force for one in (original, reversal, correction)] == [False, False, True]
    assert not any(one.replaced for one in (original, reversal, correction))


async def test_a_newer_payment_without_a_reversal_replaces_the_older_one_which_is_flagged(flow):
    [id], content = await flow.sent()
    [account] = accounts(content)
    newer = payment(
        paid(account, "1", "100", "60", "CAS*CO*45*40"),
        amount="60",
        reference="EFT2",
        day="20261120",
    )
    await flow.arrive(newer, payment(paid(account, "1", "100", "80", OFF)))
    assert await money(flow, id) == ("complete", 10000, 6000, 0, 4000)
    later, earlier = [(await claim_payments_of(flow, one))[0] for one in await payments_of(flow)]
    assert (earlier.type, earlier.in_force, earlier.replaced) == ("original", False, True)
    assert (later.type, later.in_force, later.replaced) == ("correction", True, False)


async def test_an_835_that_does_not_balance_leaves_the_charge_alone(flow):
    [id], content = await flow.sent()
    await flow.arrive(payment(paid(accounts(content)[0], "1", "100", "80", "CAS*CO*45*5")))
    assert (await money(flow, id))[1] == 10000
    [found] = await payments_of(flow)
    assert (found.balanced, found.unbalanced_claims, found.state) == (True, 1, "needs_review")


@pytest.mark.both_databases(first_case=True)
@pytest.mark.parametrize(
    "order", list(permutations(("original", "both", "duplicate"))), ids="-".join
)
async def test_every_order_of_arrival_gives_the_same_totals(flow, order):
    [id], content = await flow.sent()
    files = files_about(accounts(content)[0])
    for name in order:
        await flow.arrive(files[name])
    assert await money(flow, id) == ("complete", 10000, 6000, 2000, 2000)
    found = await payments_of(flow)
    assert sorted(one.state for one in found) == ["duplicate", "posted", "posted"]
    kept = [one for one in found if one.state != "duplicate"]
    shown = [one for each in kept for one in await claim_payments_of(flow, each)]
    assert sorted(one.type for one in shown) == ["correction", "original", "reversal"]
    assert sum(one.paid for one in shown if one.type != "reversal" and one.in_force) == 6000
    assert sum(one.paid for one in shown) == 6000  # what the payer's ledger says was sent


@st.composite
def ledgers(draw):
    """What a payer's ledger sends for one claim: payments, each but the last reversed; and copies of some files.

    A reversal comes in the file of its correction or in one of its own, days before.
    """
    amounts = draw(st.lists(st.integers(0, 100), min_size=1, max_size=4, unique=True))
    sent = []
    for at, amount in enumerate(amounts):
        rows = []
        if at:
            before = amounts[at - 1]
            rows.append(paid("C1", "22", "-100", f"-{before}", f"CAS*CO*45*-{100 - before}"))
            if draw(st.booleans()):
                sent.append((rows, "0"))
                rows = []
        rows.append(paid("C1", "1", "100", str(amount), f"CAS*CO*45*{100 - amount}"))
        sent.append((rows, str(amount)))
    files = [
        payment(
            *rows, amount=amount, reference=f"T{at}", day=f"202611{10 + 2 * at}", control=500 + at
        )
        for at, (rows, amount) in enumerate(sent)
    ]
    copies = draw(st.lists(st.sampled_from(files), max_size=3))
    again = [one.replace(b"*0900*", b"*0905*") for one in copies]
    return amounts[-1] * 100, draw(st.permutations([*files, *again]))


@given(ledgers())
@settings(
    max_examples=full_or_quick(150, 15), deadline=None, suppress_health_check=list(HealthCheck)
)
def test_any_order_of_any_ledger_folds_to_what_was_last_paid(ledger):
    last, files = ledger
    facts = [
        one.claim_payment
        for content in files
        for one in read_835.read(content)
        if isinstance(one, read_835.ClaimPaymentLoop)
    ]
    status = fold(facts, total=10000)
    assert (
        status.payer_cents,
        status.total_cents,
        status.payer_cents + status.adjustment_cents,
    ) == (last, 10000, 10000)
    roles = remittance_roles(facts)
    assert sum(role.remittance.paid for role in roles if role.in_force) == last
    assert sum(role.remittance.paid for role in roles) == last
    assert all(role.reverses is not None for role in roles if role.remittance.is_reversal)


# ---- duplicates --------------------------------------------------------------------------------


async def test_the_same_payment_in_another_envelope_counts_once_and_one_that_differs_is_flagged(
    flow,
):
    [_id], content = await flow.sent()
    [account] = accounts(content)
    row = paid(account, "1", "100", "80", OFF)
    await flow.arrive(payment(row))
    await flow.arrive(payment(row, control=777, moment="20261130*0900", separators="|>!\n"))
    await flow.arrive(payment(paid(account, "1", "100", "80", OFF, payer_number="P9"), control=778))
    await flow.arrive(
        payment(row, amount="80", day="20261224", control=779)
    )  # a reused trace number
    first, same, other, reused = await payments_of(flow)
    assert [one.state for one in (first, same, other, reused)] == [
        "posted",
        "duplicate",
        "needs_review",
        "posted",
    ]
    assert (same.duplicate_of, other.differs_from) == (first.payment_id, first.payment_id)
    assert await claim_payments_of(flow, same) == await claim_payments_of(flow, first)
    assert same.your_amount == 0


# ---- matching ----------------------------------------------------------------------------------


@pytest.mark.both_databases
async def test_a_payment_that_comes_before_its_claim_is_matched_when_the_claim_is_sent(flow):
    remit = payment(paid("EARLY-1", "1", "100", "80", OFF))
    assert await flow.arrive(remit) == ["parked"]
    [found] = await payments_of(flow)
    [waiting] = await claim_payments_of(flow, found)
    assert (found.state, found.unmatched, waiting.claim_number) == ("needs_review", 1, "")
    assert waiting.unmatched_reason
    [id], _ = await flow.sent(F26_PatientAcctNumber="EARLY-1")
    assert await flow.arrive() == []
    assert await money(flow, id) == ("complete", 10000, 8000, 0, 2000)
    [found] = await payments_of(flow)
    [one] = await claim_payments_of(flow, found)
    assert (found.state, found.unmatched, one.claim_number, one.matched_by) == (
        "posted",
        0,
        id,
        "account",
    )
    [file] = await flow.files()
    assert (file.state, file.applied, file.parked) == ("applied", 1, 0)


async def test_a_person_assigns_what_matches_nothing_and_takes_it_back(flow):
    [id], _content = await flow.sent()
    await flow.arrive(payment(paid("SMUDGED", "1", "100", "80", OFF)))
    [found] = await payments_of(flow)
    key = found.payment_id, 1
    with pytest.raises(OperationRefused, match="was not sent to payer"):
        await payment_admin.assign(flow.context, *key, "C000", actor=PERSON)
    with pytest.raises(OperationRefused, match="nothing to undo"):
        await payment_admin.undo_assignment(flow.context, *key, actor=PERSON)
    await payment_admin.assign(flow.context, *key, id, actor=PERSON)
    assert await money(flow, id) == ("complete", 10000, 8000, 0, 2000)
    with pytest.raises(OperationRefused, match="no unmatched claim"):
        await payment_admin.assign(flow.context, *key, id, actor=PERSON)
    await flow.arrive()  # the file is posted again, and the assignment stays
    [one] = await claim_payments_of(flow, (await payments_of(flow))[0])
    assert (one.claim_number, one.matched_by) == (id, "person")
    assert await payment_admin.undo_assignment(flow.context, *key, actor=PERSON) == id
    assert (await money(flow, id))[0] == "sent"
    assert await flow.documents() == 0
    [found] = await payments_of(flow)
    assert (found.unmatched, found.state, found.your_amount) == (1, "needs_review", 0)
    await payment_admin.assign(flow.context, *key, id, actor=PERSON)
    assert (await money(flow, id))[2] == 8000


@pytest.mark.both_databases
async def test_our_number_that_the_payer_cut_leads_to_a_candidate(flow):
    [id], content = await flow.sent()
    day = content.decode().split("DTP*472*D8*")[1][:8]
    member = content.decode().split("NM1*IL*1*")[1].split("~")[0].split("*")[-1]
    row = paid(id[:17], "1", "100", "80", "SVC*HC:99213*100*80**1", f"DTM*472*{day}", OFF)
    await flow.arrive(payment([one.replace("*MI*M123", f"*MI*{member}") for one in row]))
    [found] = await payments_of(flow)
    assert (found.unmatched, (await money(flow, id))[0]) == (1, "sent")
    [one] = await payment_admin.find_candidates(flow.context, found.payment_id, 1, actor=PERSON)
    assert (one.claim_number, "account number cut at 17" in one.agrees) == (id, True)


async def test_an_account_number_that_the_payer_cut_is_a_candidate_and_never_applied(flow):
    account = "LARKSPUR-2026-00042"
    [id], content = await flow.sent(F26_PatientAcctNumber=account)
    day = content.decode().split("DTP*472*D8*")[1][:8]
    member = content.decode().split("NM1*IL*1*")[1].split("~")[0].split("*")[-1]
    line = ["SVC*HC:99213*100*80**1", f"DTM*472*{day}", OFF]
    row = [
        one.replace("*MI*M123", f"*MI*{member}")
        for one in paid(account[:17], "1", "100", "80", *line)
    ]
    await flow.arrive(payment(row))
    [found] = await payments_of(flow)
    assert (found.unmatched, (await money(flow, id))[0]) == (1, "sent")
    [one] = await payment_admin.find_candidates(flow.context, found.payment_id, 1, actor=PERSON)
    assert one.claim_number == id
    assert {"same member", "same day", "account number cut at 17"} <= {*one.agrees}
    assert one.patient
    assert one.vendor_claim_id
    other = [one.replace(f"*MI*{member}", "*MI*OTHER") for one in row]
    await flow.arrive(payment(other, reference="EFT9", control=501))
    found = (await payments_of(flow))[1]
    assert (
        await payment_admin.find_candidates(flow.context, found.payment_id, 1, actor=PERSON) == []
    )


async def test_a_site_matches_only_what_may_be_its_own(flow):
    account, key = "LARKSPUR-2026-00042", (await flow.new_site()).scope
    [id], content = await flow.sent(F26_PatientAcctNumber=account)
    day = content.decode().split("DTP*472*D8*")[1][:8]
    member = content.decode().split("NM1*IL*1*")[1].split("~")[0].split("*")[-1]
    line = ["SVC*HC:99213*100*80**1", f"DTM*472*{day}", OFF]
    row = [
        one.replace("*MI*M123", f"*MI*{member}")
        for one in paid(account[:17], "1", "100", "80", *line)
    ]
    await flow.arrive(payment(paid("NOBODY", "1", "100", "80", OFF), row, amount="160"))
    [found] = await payments_of(flow)
    own, stranger, payment_id = [flow.site.scope], [key], found.payment_id

    async def unmatched(scopes, after=0):
        return await payment_admin.list_unmatched(
            flow.context, payment_id, after=after, actor=PERSON, scopes=scopes
        )

    everything = await unmatched(None)
    assert [len(one.candidates) for one in everything.claim_payments] == [0, 1]
    assert [one.claim_payment.number for one in (await unmatched(None, 1)).claim_payments] == [2]
    [mine] = (await unmatched(own)).claim_payments
    assert (mine.claim_payment.number, mine.candidates[0].claim_number) == (2, id)
    assert (await unmatched(stranger)).claim_payments == []
    place = flow.context, payment_id, 2
    for scopes, claim in ((stranger, id), (own, "C000")):
        with pytest.raises(OperationRefused, match="differs too much"):
            await payment_admin.assign(*place, claim, actor=PERSON, scopes=scopes)
    await payment_admin.assign(*place, id, actor=PERSON, scopes=own)
    with pytest.raises(OperationRefused, match="nothing to undo"):
        await payment_admin.undo_assignment(*place, actor=PERSON, scopes=stranger)
    assert await payment_admin.undo_assignment(*place, actor=PERSON, scopes=own) == id


@pytest.mark.both_databases
async def test_unmatched_claims_come_a_page_at_a_time(flow, monkeypatch):
    monkeypatch.setattr(payment_admin, "UNMATCHED_SHOWN", 2)
    await flow.arrive(payment(*(paid(f"NOBODY{at}") for at in range(5)), amount="400"))
    [found] = await payments_of(flow)
    shown, after = [], 0
    for _ in range(3):
        page = await payment_admin.list_unmatched(
            flow.context, found.payment_id, after=after, actor=PERSON
        )
        shown += [one.claim_payment.number for one in page.claim_payments]
        after = page.more_after
    assert (shown, after) == ([1, 2, 3, 4, 5], 0)


async def test_lines_match_by_control_number_before_procedure(flow):
    [id], content = await flow.sent()
    [account] = accounts(content)
    lines = [
        "SVC*HC:99999:25*60*50**1",
        "CAS*CO*45*10",
        f"REF*6R*{id}-1",
        "SVC*HC:00000*40*30**1",
        "CAS*CO*45*10",
    ]
    await flow.arrive(payment(paid(account, "1", "100", "80", *lines)))
    [one] = await claim_payments_of(flow, (await payments_of(flow))[0])
    assert [line.line_number for line in one.lines] == [1, 0]


# ---- several clients ---------------------------------------------------------------------------


@pytest.mark.both_databases
async def test_each_site_sees_its_own_claims_and_its_part_of_the_amount(flow):
    other = await flow.new_site()
    mine = await flow.submit()
    theirs = await flow.submit(site=other)
    content = await flow.send()
    rows = {id: paid(id, "1", "100", "80", OFF) for id in accounts(content)}
    plb = [f"PLB*1234567893*20261231*WO:{theirs[0]}*30*FB*10"]
    await flow.arrive(payment(rows[mine[0]], rows[theirs[0]], amount="120", plb=plb))
    database, vault = flow.database, flow.vault
    for site, id, your_amount, reasons in (
        (flow.site, mine[0], 8000, []),
        (other, theirs[0], 5000, ["WO"]),
    ):
        [own] = await payments_of(flow, scope=site.scope)
        assert (own.amount, own.your_amount, own.fetched_at) == (12000, your_amount, None)
        details = await load_vendor_payment(
            database, vault, own.payment_id, scope=site.scope, actor=ACTOR, at=flow.clock.now()
        )
        assert [
            one.reason for one in details.adjustments
        ] == reasons  # FB names nobody: the operator's
        pages = payments.own_claim_payment_pages(database, vault, site.scope, own.payment_id)
        shown = [one async for page in pages for one in page]
        assert [one.claim_number for one in shown] == [id]
        [own] = await payments_of(flow, scope=site.scope)
        assert own.fetched_at is not None
    third = await flow.new_site()
    assert await payments_of(flow, scope=third.scope) == []
    [found] = await payments_of(flow)
    key = found.payment_id
    unseen = await load_vendor_payment(
        database, vault, key, scope=third.scope, actor=ACTOR, at=flow.clock.now()
    )
    assert unseen is None


async def test_an_adjustment_that_names_a_claim_of_a_site_that_is_not_paid_is_the_operators(flow):
    other = await flow.new_site()
    mine = await flow.submit()
    theirs = await flow.submit(site=other)
    await flow.send()
    plb = [f"PLB*1234567893*20261231*WO:{theirs[0]}*30"]
    await flow.arrive(payment(paid(mine[0], "1", "100", "80", OFF), amount="50", plb=plb))
    [own] = await payments_of(flow, scope=flow.site.scope)
    assert (own.amount, own.your_amount) == (5000, 8000)
    assert await payments_of(flow, scope=other.scope) == []


# ---- documents ---------------------------------------------------------------------------------


async def read_documents(flow, *ids, actor=ACTOR):
    found = await retrieve_documents(
        flow.database, flow.vault, ids, site=flow.site, actor=actor, at=flow.clock.now()
    )
    return [one async for page in found.payments for one in page]


@pytest.mark.safe_default(2)
async def test_every_document_brings_the_whole_chain_whoever_read_what_before(flow):
    [id], content = await flow.sent()
    account = accounts(content)[0]
    await flow.arrive(status(patient(account, "A2:20*20261031*WQ*100")))
    taken = (await flow.status(id)).document_id
    files = files_about(account)
    await flow.arrive(files["original"])
    first = (await flow.status(id)).document_id
    booked = {one.document_id: one.fact.paid for one in await read_documents(flow, first)}
    assert booked == {first: 8000}
    await flow.arrive(files["both"])
    current = (await flow.status(id)).document_id
    reversal = (await read_documents(flow, current))[1].document_id
    readers = (ACTOR, Actor("console", "somebody"))
    for asked in ([current], [first], [reversal], [taken], [current, taken, first]):
        for actor in readers:
            found = await read_documents(flow, *asked, actor=actor)
            assert [one.document_id for one in found] == [first, reversal, current]
            assert [one.fact.paid for one in found] == [8000, -8000, 6000]
            booked |= {one.document_id: one.fact.paid for one in found}
    assert sum(booked.values()) == 6000
    assert await payments_of(flow, not_fetched=True) == []


async def test_a_persons_reading_is_seen_and_that_of_software_is_fetched(flow):
    [id], content = await flow.sent()
    await flow.arrive(payment(paid(accounts(content)[0], "1", "100", "80", OFF)))
    document = (await flow.status(id)).document_id
    await read_documents(flow, document, actor=Actor("console", "somebody"))
    [found] = await payments_of(flow)
    assert (found.fetched_at, found.seen_at) == (None, flow.clock.now())
    await read_documents(flow, document)
    [found] = await payments_of(flow)
    assert found.fetched_at == flow.clock.now()


async def test_what_a_person_does_is_audited(flow):
    [id], _content = await flow.sent()
    await flow.arrive(payment(paid("SMUDGED", "1", "100", "80", OFF)))
    [found] = await payments_of(flow)
    await claim_payments_of(flow, found)
    await payment_admin.assign(flow.context, found.payment_id, 1, id, actor=PERSON)
    await payment_admin.undo_assignment(flow.context, found.payment_id, 1, actor=PERSON)
    actions = {row["action"] async for row in audit.read_between(flow.database, 0, 1 << 62)}
    assert {"payment.read", "payment.assigned", "payment.unassigned"} <= actions
