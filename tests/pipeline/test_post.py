"""What payers' files do to claims, through mailbox and store, on both databases.

Also tests `store/claims/facts` and `store/claims/claim_updates`.
"""

from datetime import date
from itertools import permutations

import pytest
from msgspec.structs import replace

from clearlane.claims.lifecycle import PayerDocumentKind
from clearlane.connect.port import Presence, Unreachable
from clearlane.kernel import limits
from clearlane.pipeline.inbound import file_items, receive
from clearlane.pipeline.operator import inbox_admin
from clearlane.pipeline.outbound import dispatch
from clearlane.pipeline.stored_facts import open_document_source
from clearlane.store.claims import documents
from tests.api.markers import tables_with
from tests.cases import full_or_quick
from tests.claims.answers import nine, paid, patient, payment, sealed, status, ta1
from tests.pipeline.flowing import (
    ACTOR,
    OTHER_PAYER,
    PAYER,
    Flow,
    accounts,
    controls,
)

pytestmark = pytest.mark.one_database

ACCEPTED = ("AK2*837*0001*005010X222A1", "IK5*A")


def inquired(account, codes, **more):
    """A 277 about one claim."""
    rows = [
        "277*005010X212", "BHT*0010*08*77*20261105*0900*DG",
        "HL*1**20*1", "NM1*PR*2*MEADOW MUTUAL*****PI*TST01",
        "HL*2*1*21*1", "NM1*41*2*CLEARLANE*****46*CLEARLANE",
        "HL*3*2*19*1", "NM1*1P*2*FERNHILL FAMILY PRACTICE*****XX*1234567893",
        "HL*4*3*22*0", "NM1*IL*1*ARDEN*ROSA****MI*M123", f"TRN*2*{account}", f"STC*{codes}",
    ]  # fmt: skip
    return sealed("HN", "005010X212", rows, **more)


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


@pytest.mark.both_databases
async def test_a_claim_goes_from_received_to_complete(flow):
    [id] = await flow.submit()
    first = await flow.status(id)
    assert first.state == "received"
    assert first.decided_day is first.payment_effective_day is None
    content = await flow.send()
    assert (await flow.status(id)).state == "sent"
    [account] = accounts(content)
    assert await flow.arrive(nine(controls(content), ACCEPTED)) == ["applied"]
    assert (await flow.status(id)).state == "sent"
    report = status(patient(account, "A2:20*20261102*WQ*100"), batch=f"{controls(content):09}0001")
    assert await flow.arrive(report) == ["applied"]
    row = await flow.status(id)
    assert row.state == "acknowledged"
    assert row.document_kind is PayerDocumentKind.STATUS
    assert row.document_id
    remit = payment(paid(account, "1", "100", "80", "CAS*CO*45*20"))
    assert await flow.arrive(remit) == ["applied"]
    row = await flow.status(id)
    assert row.state == "complete"
    assert (row.total_cents, row.payer_cents, row.adjustment_cents) == (10000, 8000, 2000)
    assert row.document_kind is PayerDocumentKind.PAYMENT
    assert (row.payment_status, row.status_category) == ("1", "")
    assert row.payment_method == "ACH"


async def test_a_claim_refused_in_a_277ca_is_rejected_and_its_id_is_free_again(flow):
    [id], content = await flow.sent(Svc_VendorClaimId="MINE")
    [account] = accounts(content)
    await flow.arrive(status(patient(account, "A7:500:85*20261102*U*100")))
    row = await flow.status(id)
    assert row.state == "rejected"
    assert row.status_category == "A7"
    [again] = await flow.submit(Svc_VendorClaimId="MINE")
    assert again != id


async def test_a_pended_claim_is_pending_and_then_complete(flow):
    [id], content = await flow.sent()
    [account] = accounts(content)
    await flow.arrive(inquired(account, "P1:20*20261105**100"))
    assert (await flow.status(id)).state == "pending"
    await flow.arrive(payment(paid(account, "4", "100", "0", "CAS*CO*50*100"), amount="0"))
    row = await flow.status(id)
    assert (row.state, row.payment_status) == ("complete", "4")


async def test_a_refused_interchange_rejects_every_claim_in_it_with_a_document(flow):
    ids, content = await flow.sent(3)
    assert await flow.arrive(ta1(controls(content))) == ["applied"]
    rows = await flow.statuses()
    assert {rows[id].state for id in ids} == {"rejected"}
    assert {rows[id].document_kind for id in ids} == {PayerDocumentKind.STATUS}
    assert len({rows[id].document_id for id in ids}) == 3


async def test_where_a_999_names_one_claim_it_is_rejected_and_the_others_go_out_again(flow):
    ids, content = await flow.sent(3)
    segments = content.decode().split("~")
    start = next(at for at, one in enumerate(segments) if one.startswith("ST*"))
    second = [at for at, one in enumerate(segments) if one.startswith("CLM*")][1] - start + 1
    refused = nine(
        controls(content),
        ["AK2*837*0001*005010X222A1", f"IK3*CLM*{second}*2300*8", "IK4*2**7*X", "IK5*R*5"],
        verdict="R",
    )
    assert await flow.arrive(refused) == ["applied"]
    rows = await flow.statuses()
    assert [rows[id].state for id in ids] == ["sent", "rejected", "sent"]
    again = await flow.send()
    assert again
    assert ids[0] in again.decode()
    assert ids[1] not in again.decode()
    # The old answer once more changes nothing: the two are on their way again.
    assert await flow.arrive(refused, name="again") == []
    assert await flow.send() == b""
    ends = nine(controls(again), ACCEPTED)
    assert await flow.arrive(ends) == ["applied"]
    assert await flow.send() == b""
    rows = await flow.statuses()
    assert [rows[id].state for id in ids] == ["sent", "rejected", "sent"]


async def test_a_word_about_a_claim_that_goes_out_again_does_not_send_it_a_third_time(flow):
    ids, content = await flow.sent(2)
    segments = content.decode().split("~")
    start = next(at for at, one in enumerate(segments) if one.startswith("ST*"))
    first = next(at for at, one in enumerate(segments) if one.startswith("CLM*")) - start + 1
    rows = ["AK2*837*0001*005010X222A1", f"IK3*CLM*{first}*2300*8", "IK4*2**7*X", "IK5*R*5"]
    await flow.arrive(nine(controls(content), rows, verdict="R"))
    box = flow.connections.open_mailbox(flow.connections.route("Medical", PAYER))
    # It is in a new batch, and the payer does not take that at the moment.
    box.trouble = Unreachable("The payer is down.", Presence.ABSENT)
    await dispatch.create_batches(flow.context, flow.clock.now(), everything=True)
    box.trouble = None
    assert await flow.arrive(inquired(accounts(content)[1], "D0:24*20261102")) == ["applied"]
    assert await dispatch.create_batches(flow.context, flow.clock.now(), everything=True) == []
    assert len(await flow.facts(ids[1])) == 3


@pytest.mark.both_databases
async def test_a_payment_taken_back_and_corrected_moves_the_claim_twice(flow):
    [id], content = await flow.sent()
    [account] = accounts(content)
    await flow.arrive(payment(paid(account, "1", "100", "80", "CAS*CO*45*20")))
    back = paid(account, "22", "-100", "-80", "CAS*CO*45*-20")
    await flow.arrive(payment(back, amount="-80", reference="EFT2", day="20261120", control=501))
    row = await flow.status(id)
    assert (row.state, row.payer_cents) == ("pending", 0)
    better = paid(account, "1", "100", "90", "CAS*CO*45*10")
    await flow.arrive(payment(better, amount="90", reference="EFT3", day="20261121", control=502))
    row = await flow.status(id)
    assert (row.state, row.payer_cents, row.adjustment_cents) == ("complete", 9000, 1000)


# ---- the same again, and in any order ---------------------------------------------------------


@pytest.mark.both_databases
async def test_a_file_that_comes_ten_times_counts_once(flow):
    [id], content = await flow.sent()
    remit = payment(paid(accounts(content)[0], "1", "100", "80", "CAS*CO*45*20"))
    assert await flow.arrive(remit) == ["applied"]
    row, known = await flow.status(id), await flow.facts(id)
    for turn in range(9):
        assert await flow.arrive(remit, name=f"copy{turn}-") == []
    assert len(await flow.files()) == 1
    assert (await flow.status(id), await flow.facts(id)) == (row, known)
    assert row.payer_cents == 8000


async def test_the_same_statement_in_another_file_counts_once(flow):
    [id], content = await flow.sent()
    one = paid(accounts(content)[0], "1", "100", "80", "CAS*CO*45*20")
    assert await flow.arrive(payment(one), payment(one, control=777)) == ["applied"] * 2
    assert len(await flow.facts(id)) == 2  # sent and paid
    assert (await flow.status(id)).payer_cents == 8000


def five(content):
    """Five answers to one claim, from its 999 to the corrected payment."""
    [account] = accounts(content)
    first = paid(account, "1", "100", "80", "CAS*CO*45*20")
    back = paid(account, "22", "-100", "-80", "CAS*CO*45*-20")
    better = paid(account, "1", "100", "90", "CAS*CO*45*10")
    return [
        nine(controls(content), ACCEPTED),
        status(patient(account, "A2:20*20261102*WQ*100")),
        inquired(account, "P1:20*20261105**100", control=501),
        payment(first, control=502),
        payment(back, better, amount="10", reference="EFT2", day="20261120", control=503),
    ]


@pytest.mark.both_databases
async def test_orders_of_five_answers_end_the_same(flow):
    ends = []
    orders = list(permutations(range(5)))
    for turn in range(full_or_quick(10, 4)):
        [id], content = await flow.sent(F26_PatientAcctNumber=f"ACC{turn}")
        answers = five(content)
        for at in orders[turn * 13]:
            assert await flow.arrive(answers[at]) == ["applied"]
        row = await flow.status(id)
        assert row.document_id
        ends.append(replace(row, document_id="", claim_number="", vendor_claim_id=""))
    assert ends[0].state == "complete"
    assert ends[0].payer_cents == 9000
    assert all(end == ends[0] for end in ends)


async def test_a_repeated_status_does_not_become_newer(flow):
    """Of two reports of one statement the earlier decides, whichever came first."""
    ends = []
    for order in ((0, 1, 2), (2, 1, 0)):
        [id], content = await flow.sent(F26_PatientAcctNumber=f"TWICE{order[0]}")
        one = patient(accounts(content)[0], "A2:20*20261102*WQ*100")
        other = patient(accounts(content)[0], "P1:20*20261102**100")
        answers = [
            status(one, moment="20261102*0900", control=600),
            status(other, moment="20261102*1000", control=601),
            status(one, moment="20261102*1100", control=602),
        ]
        for at in order:
            await flow.arrive(answers[at])
        ends.append((await flow.status(id)).state)
    assert ends == ["pending", "pending"]


# ---- whose claim is it? -----------------------------------------------------------------------


@pytest.mark.both_databases
async def test_an_answer_about_no_known_claim_is_parked_and_shown(flow):
    await flow.sent()
    assert await flow.arrive(payment(paid("NOBODY"), control=701)) == ["parked"]
    [file] = await flow.files()
    [row] = await flow.parked(file.id)
    assert row.kind == "REMIT"
    assert "No claim with these numbers" in row.reason
    assert (file.applied, file.parked) == (0, 1)


async def test_an_answer_of_another_payer_is_never_applied(flow):
    [id], content = await flow.sent()
    [account] = accounts(content)
    answers = [payment(paid(account)), nine(controls(content), ACCEPTED), ta1(controls(content))]
    assert await flow.arrive(*answers, payer=OTHER_PAYER) == ["parked"] * 3
    assert (await flow.status(id)).state == "sent"


async def test_a_claim_that_was_not_sent_yet_cannot_be_answered(flow):
    [id] = await flow.submit(F26_PatientAcctNumber="EARLY")
    assert await flow.arrive(payment(paid("EARLY")), payment(paid(id), control=9)) == ["parked"] * 2
    assert (await flow.status(id)).state == "received"


@pytest.mark.both_databases
async def test_claims_of_two_vendors_in_one_file_each_get_their_own(flow):
    other = await flow.new_site()
    [mine] = await flow.submit(F26_PatientAcctNumber="MINE1")
    [theirs] = await flow.submit(site=other, F26_PatientAcctNumber="THEIRS1")
    content = await flow.send()
    remit = payment(
        paid("MINE1", "1", "100", "80", "CAS*CO*45*20"),
        paid("THEIRS1", "4", "100", "0", "CAS*CO*50*100"),
        paid("NEITHER1", "1", "100", "80", "CAS*CO*45*20"),
        amount="160",
    )
    assert controls(content)
    assert await flow.arrive(remit) == ["parked"]
    assert (await flow.status(mine)).payer_cents == 8000
    assert (await flow.status(theirs, other)).payment_status == "4"
    assert set(await flow.statuses()) == {mine}


async def test_two_clients_with_one_account_number_are_not_confused(flow):
    other = await flow.new_site()
    [mine] = await flow.submit(F26_PatientAcctNumber="ACC77")
    [theirs] = await flow.submit(site=other, F26_PatientAcctNumber="ACC77")
    content = await flow.send()
    assert sorted(accounts(content)) == ["ACC77", theirs]
    await flow.arrive(payment(paid("ACC77", "1", "100", "80", "CAS*CO*45*20")))
    assert (await flow.status(mine)).state == "complete"
    assert (await flow.status(theirs, other)).state == "sent"


async def test_line_numbers_that_every_claim_has_confuse_no_claim_with_another(flow):
    ids, content = await flow.sent(30, line={"X12_ProviderControlNumber": "1"})
    line = ("SVC*HC:99213*100*80**1", "CAS*CO*45*20", "REF*6R*1")
    rows = [paid(account, "1", "100", "80", *line) for account in accounts(content)]
    assert await flow.arrive(payment(*rows, amount="2400")) == ["applied"]
    found = await flow.statuses()
    assert {found[id].state for id in ids} == {"complete"}


@pytest.mark.both_databases
async def test_a_payment_is_matched_by_its_line_control_numbers_alone(flow):
    [ours] = await flow.submit(F26_PatientAcctNumber="A-1")
    [given] = await flow.submit(
        F26_PatientAcctNumber="A-2", line={"X12_ProviderControlNumber": "LINE7"}
    )
    content = await flow.send()
    assert f"REF*6R*{ours}-1" in content.decode()
    assert "REF*6R*LINE7" in content.decode()

    def of_line(control):
        rows = ("SVC*HC:99213*100*80**1", "CAS*CO*45*20", f"REF*6R*{control}")
        return ["CLP**1*100*80*0*12*P1*11*1", "NM1*QC*1*ARDEN*ROSA****MI*M123", *rows]

    assert await flow.arrive(payment(of_line(f"{ours}-1"), of_line("LINE7"), amount="160")) == [
        "applied"
    ]
    rows = await flow.statuses()
    assert {rows[ours].state, rows[given].state} == {"complete"}


async def test_numbers_that_contradict_each_other_are_parked(flow):
    ids, content = await flow.sent(2)
    assert content
    remit = payment([*paid(ids[0]), "SVC*HC:99213*100*80**1", "CAS*CO*45*20", f"REF*6R*{ids[1]}-1"])
    assert await flow.arrive(remit) == ["parked"]
    [file] = await flow.files()
    [row] = await flow.parked(file.id)
    assert "different claims" in row.reason


@pytest.mark.both_databases
async def test_a_refused_claim_gives_its_account_number_back_and_is_still_found(flow):
    [first], content = await flow.sent(F26_PatientAcctNumber="ACC")
    await flow.arrive(status(patient("ACC", "A7:500:85*20261102*U*100")))
    remit = payment(paid("ACC", "1", "100", "80", "CAS*CO*45*20"))
    [second], again = await flow.sent(F26_PatientAcctNumber="ACC")
    assert (accounts(content), accounts(again)) == (["ACC"], ["ACC"])
    await flow.arrive(remit)
    rows = await flow.statuses()
    assert (rows[first].state, rows[second].state) == ("rejected", "complete")


async def test_a_late_payment_of_a_refused_claim_is_still_its_own(flow):
    [id], content = await flow.sent(F26_PatientAcctNumber="ACC")
    assert content
    await flow.arrive(status(patient("ACC", "A7:500:85*20261102*U*100")))
    await flow.arrive(payment(paid("ACC", "1", "100", "80", "CAS*CO*45*20")))
    assert (await flow.status(id)).state == "complete"


async def test_a_refused_claim_that_was_sent_anew_may_still_be_paid(flow):
    """Two claims with one caller's id: only one may live, and the list tells the truth of both."""
    [first], content = await flow.sent(Svc_VendorClaimId="ONE", F26_PatientAcctNumber="A1")
    assert content
    await flow.arrive(status(patient("A1", "A7:500:85*20261102*U*100")))
    [second] = await flow.submit(Svc_VendorClaimId="ONE", F26_PatientAcctNumber="A2")
    remit = payment(paid("A1", "1", "100", "80", "CAS*CO*45*20"))
    assert await flow.arrive(remit) == ["applied"]
    better = payment(
        paid("A1", "1", "100", "85", "CAS*CO*45*15"), reference="EFT9", day="20261130", amount="85"
    )
    assert await flow.arrive(better) == ["applied"]
    rows = await flow.statuses()
    assert (rows[first].state, rows[first].payer_cents) == ("complete", 8500)
    assert rows[second].state == "received"
    assert await flow.send()


async def test_a_payment_with_amounts_that_cannot_be_read_is_parked(flow):
    [id], content = await flow.sent()
    remit = payment(paid(accounts(content)[0], "1", "1OO", "80"))
    assert await flow.arrive(remit) == ["parked"]
    assert (await flow.status(id)).state == "sent"


async def test_a_payment_that_does_not_add_up_is_applied_and_shown(flow):
    [id], content = await flow.sent()
    remit = payment(paid(accounts(content)[0], "1", "100", "80", "CAS*CO*45*20"), amount="75")
    assert await flow.arrive(remit) == ["applied"]
    [file] = await flow.files()
    assert "$5.00 off" in file.reason
    assert (await flow.status(id)).payer_cents == 8000


# ---- mixes, other separators, quarantine -----------------------------------------------------


async def test_answers_of_every_kind_may_be_in_one_file_with_any_separators(flow):
    ids, content = await flow.sent(2)
    one, two = accounts(content)
    mixed = (
        nine(controls(content), ACCEPTED, separators="|>!\n", control=801)
        + status(patient(one, "A2:20*20261102*WQ*100"), control=802)
        + b"\r\n"
        + payment(paid(two, "1", "100", "80", "CAS*CO*45*20"), separators="+:^'", control=803)
        + ta1(999_999)
    )
    assert await flow.arrive(mixed) == ["parked"]
    [file] = await flow.files()
    assert file.kinds == "277CA,835,999,TA1"
    rows = await flow.statuses()
    assert [rows[id].state for id in ids] == ["acknowledged", "complete"]


GOOD = payment(paid("X"))
BAD = {
    "empty": (b"", "The file is empty."),
    "blank": (b" \r\n", "The file is empty."),
    "page": (b"<!DOCTYPE html><html><body>503</body></html>", "The file is a web page"),
    "garbage": (bytes(range(256)) * 4, "The file is something else"),
    "cut in a segment": (GOOD[: len(GOOD) // 2], "cut"),
    "without its end": (GOOD[: GOOD.rindex(b"GE*")], "cut short"),
    "half an ISA": (GOOD[:60], "cannot be read"),
    "an 837": (b"837", ""),
    "good and then cut": (GOOD + GOOD[:300], "cut"),
}


@pytest.mark.parametrize("name", BAD)
async def test_what_cannot_be_read_goes_to_quarantine_with_the_reason(flow, name):
    [id], sent = await flow.sent()
    content, reason = BAD[name]
    content = sent if name == "an 837" else content
    assert await flow.arrive(content) == ["quarantined"]
    [file] = await flow.files()
    assert file.reason
    assert reason in file.reason
    assert (await flow.status(id)).state == "sent"


async def test_a_file_too_large_to_fetch_is_recorded_once_and_left_there(flow, monkeypatch):
    [id] = await flow.submit()
    assert id
    box = flow.connections.open_mailbox(flow.connections.route("Medical", PAYER))
    box.files["huge"] = b"x" * 100
    monkeypatch.setattr(limits, "TRANSFER_BYTES_MAX", 99)
    for _ in range(2):
        await receive.receive_files(flow.context, flow.clock.now(), every_route=True)
    [file] = await flow.files()
    assert (file.state, file.name) == ("quarantined", "huge")
    assert "larger" in file.reason
    assert box.files


# ---- documents and privacy -------------------------------------------------------------------


async def test_a_document_holds_the_claims_part_of_the_file_and_no_other(flow):
    ids, content = await flow.sent(2)
    one, two = accounts(content)
    remit = payment(
        paid(one, "1", "100", "80", "CAS*CO*45*20"), paid(two, "1", "100", "70", "CAS*CO*45*30"),
        amount="150",
    )  # fmt: skip
    await flow.arrive(remit)
    row = await flow.status(ids[0])
    async with flow.database.read(flow.site.scope) as tx:
        [found] = await documents.find(tx, [row.document_id, "unknown"])
    shown = open_document_source(flow.vault, found)
    assert (found.kind, found.claim_number) == (PayerDocumentKind.PAYMENT, ids[0])
    assert f"CLP*{one}*" in shown.part.decode()
    assert f"CLP*{two}*" not in shown.part.decode()
    assert shown.fact.paid == 8000
    other = await flow.new_site()
    async with flow.database.read(other.scope) as tx:
        assert await documents.find(tx, [found.document_id]) == []


async def test_days_are_those_of_the_site(flow):
    flow.site = await flow.new_site("Pacific/Kiritimati")  # 14 hours ahead: tomorrow at noon UTC
    [id], _ = await flow.sent()
    row = await flow.status(id)
    assert row.created_day == row.state_changed_day == row.updated_day == date(2024, 3, 6)


# ---- bounds and privacy -----------------------------------------------------------------------


@pytest.mark.both_databases
async def test_a_file_is_posted_page_by_page_and_ends_the_same(flow, monkeypatch):
    monkeypatch.setattr("clearlane.pipeline.inbound.reading_process.ITEMS_AT_ONCE", 2)
    monkeypatch.setattr("clearlane.pipeline.record_facts.CLAIM_FACTS_AT_ONCE", 1)
    monkeypatch.setattr(limits, "PARKED_PER_FILE_MAX", 1)
    ids, content = await flow.sent(5)
    claims_paid = [paid(one, "1", "100", "80", "CAS*CO*45*20") for one in accounts(content)]
    claims_paid += [paid("NOBODY1"), paid("NOBODY2")]
    assert await flow.arrive(payment(*claims_paid, amount="560")) == ["parked"]
    assert await flow.arrive(nine(controls(content), ACCEPTED)) == ["applied"]
    remit, answer = await flow.files()
    assert (remit.applied, remit.parked, answer.applied) == (5, 2, 5)
    assert len(await flow.parked(remit.id)) == 1
    assert {row.state for row in (await flow.statuses()).values()} == {"complete"}
    assert [len(await flow.facts(id)) for id in ids] == [3] * 5


async def test_a_file_that_breaks_our_reader_goes_to_quarantine(flow, monkeypatch):
    def broken(extractor, unit):
        raise KeyError("ARDEN")

    [id], content = await flow.sent()
    remit = payment(paid(accounts(content)[0], "1", "100", "80", "CAS*CO*45*20"))
    with monkeypatch.context() as patched:
        patched.setattr(file_items.ClaimExtractor, "extract", broken)
        assert await flow.arrive(remit) == ["quarantined"]
    [file] = await flow.files()
    assert "KeyError" in file.reason
    assert "ARDEN" not in file.reason
    assert await inbox_admin.replay(flow.context, file.id, actor=ACTOR)
    assert (await flow.status(id)).state == "complete"


@pytest.mark.both_databases
async def test_nothing_of_a_payers_file_is_kept_or_said_in_clear(flow, place, capfd):
    marker = "QZ7F31B8"
    ids, content = await flow.sent(F26_PatientAcctNumber=f"{marker}A")
    [account] = accounts(content)
    assert account == f"{marker}A"
    claim = paid(account, "1", "100", "80", "CAS*CO*45*20", payer_number=f"{marker}P")
    odd = b"ISA" + GOOD[3:].replace(b"ST*835*", f"ST*{marker}*".encode())
    await flow.arrive(
        status(patient(account, f"A7:500:85*20261102*U*100********{marker}", name=marker)),
        payment(claim, paid(f"{marker}N")),
        nine(controls(content), [f"AK2*837*{marker}", "IK5*R*5"], verdict="R"),
        f"<html>{marker}</html>".encode(),
        odd,
    )
    assert ids
    kept = [file for file in place.data.rglob("*") if file.is_file()]
    assert kept
    assert not [file for file in kept if marker.encode() in file.read_bytes()]
    if place.url:
        assert await tables_with(place.url, marker) == []
    said = capfd.readouterr()
    assert marker not in said.out + said.err
