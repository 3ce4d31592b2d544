"""Submit, hold, release, cancel, void, resubmit, correct, send anyway and validate claims over https on both databases.

Also tests `api/v1/claim_submission`, `api/v1/content/claim_content`, `api/v1/claim_verbs`, `api/v1/claim_inquiries`, `api/v1/secondary`, `pipeline/intake/claim_x12`, `pipeline/intake/hold_claims`, `pipeline/intake/validate`,
`pipeline/intake/read`, `pipeline/intake/submit_correction`, `pipeline/intake/correction_guard` and
`store/claims/unsent_claims`.
"""

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from clearlane.claims.forms import ub04_samples
from tests.api.conftest import served
from tests.api.test_claims import DAY, DENTAL, MEDICAL, a_document, fresh_id, post, results
from tests.api.test_status import today
from tests.api.test_v1_claims import advance
from tests.api.test_v1_frame import problem
from tests.databases import KINDS
from tests.patience import wait_until

pytestmark = pytest.mark.one_database

CLAIMS = "/clearlane/v1/claims"
VISIT = str(DAY - timedelta(days=9))
ACCOUNTS = {MEDICAL: "F26_PatientAcctNumber", DENTAL: "F23_PatientID"}


@pytest.fixture(scope="module", params=KINDS)
async def server(request, new_place):
    """A sandbox that gathers claims for a day: none is sent or answered before time is advanced.

    The payers' days are frozen: of two seconds each, some would pass between two calls on a busy machine.
    """
    place = new_place(request.param, served=True)
    async with served(place, CLEARLANE_SANDBOX_WINDOW_SECONDS="86400") as serving:
        account = serving.sandbox
        with serving.client((account["vendor_key"], account["vendor_password"])) as client:
            site = {"vendorSiteId": account["vendor_site_id"]}
            answer = client.post("/sandbox/clock", params=site, json={"Frozen": True})
            assert answer.json()["Frozen"], answer.text
        yield serving


@pytest.fixture(scope="module")
def vendor(server):
    """A vendor of this module alone."""
    account = server.add_vendor(f"VERBS{random.getrandbits(32):X}")
    server.add_site(account, f"{account.key}-1", "--baa-accepted")
    server.add_site(account, f"{account.key}-2", "--baa-accepted")
    return account


@pytest.fixture(scope="module")
def client(server, vendor):
    with server.client(vendor.auth) as client:
        yield client


@pytest.fixture
def submit(client, vendor):
    def submit(kind=MEDICAL, **changes):
        payer = {"Svc_PayerId": "TST01"} if kind is MEDICAL else {}
        document = a_document(kind, **{**payer, **changes})
        answer = post(client, document, kind, params={"vendorSiteId": f"{vendor.key}-1"})
        (result,) = results(answer)
        assert result["Status"] == "Accepted", result
        return result["RequestId"]

    return submit


# A payer acknowledges what comes at once, or when it is next looked for.
# The sandbox's time runs on beside a slow test, so a claim in a batch may already be paid.
IN_A_BATCH = ("sent", "acknowledged", "complete")
UNCHANGED = ("received", *IN_A_BATCH)


def do(client, number, verb, **options):
    return client.post(f"{CLAIMS}/{number}/{verb}", **options)


def state(client, number):
    return client.get(f"{CLAIMS}/{number}").json()["state"]


def test_the_next_payer_is_billed_once_the_first_has_paid_and_what_is_asked_was_answered(
    client, submit, vendor
):
    number = submit(
        F01A_InsuredId="3002",
        F33A_BillingProviderNpi="1234567893",
        F33_BillingProviderZip="787011234",
    )
    before = client.get(f"{CLAIMS}/{number}/secondary").json()
    assert (before["state"], before["claim_payment"], before["patient_balance"]) == (
        "open",
        None,
        None,
    )
    assert "claim_payment" in {one["field"] for one in before["questions"]}
    advance(client, vendor, "30d")
    paid = client.get(f"{CLAIMS}/{number}/secondary").json()
    assert [one["field"] for one in paid["questions"]] == [
        "payer_id",
        "member_id",
        "relationship",
        "last_name",
    ]
    assert (
        paid["patient_balance"] == paid["chain"][0]["patient"] == paid["claim_payment"]["patient"]
    )
    refused = do(client, number, "secondary", json={"payer_id": "NONE1"})
    assert problem(refused, 422)["errors"][0]["field"] == "payer_id"
    known = {
        "payer_id": "TST01", "member_id": "3001", "relationship": "18", "last_name": "Quill", "first_name": "Tessa",
    }  # fmt: skip
    shown = do(client, number, "secondary", json=known, params={"dry_run": "true"}).json()
    assert shown["secondary_claim"] is None
    assert "~\nSVD*TST01*" in shown["x12"]
    sent = do(client, number, "secondary", json=known).json()
    after = client.get(f"{CLAIMS}/{sent['secondary_claim']}").json()
    assert after["prior_payer_claim"] == number
    assert problem(do(client, number, "secondary", json=known), 409)
    chain = client.get(f"{CLAIMS}/{number}/secondary").json()["chain"]
    assert [one["claim_number"] for one in chain] == [number, sent["secondary_claim"]]
    # A payer that takes its payment back after the next one was billed: what that one was sent is corrected, once.
    changed = submit(
        F01A_InsuredId="3008",
        F33A_BillingProviderNpi="1234567893",
        F33_BillingProviderZip="787011234",
    )
    assert problem(do(client, changed, "secondary", json={"correct": True}), 409)
    advance(client, vendor, "20d")
    billed = do(client, changed, "secondary", json=known).json()["secondary_claim"]
    advance(client, vendor, "20d")
    shown = do(client, changed, "secondary", json={"correct": True}, params={"dry_run": "true"})
    assert (shown.json()["state"], shown.json()["secondary_claim"]) == ("to_correct", billed)
    assert (shown.json()["sent_as"], ":7*" in shown.json()["x12"]) == ("replacement", True)
    mended = do(client, changed, "secondary", json={"correct": True}).json()
    assert (mended["state"], mended["sent_as"]) == ("sent", "replacement")
    found = client.get(f"{CLAIMS}/{changed}/secondary").json()
    assert (found["state"], found["secondary_claim"]) == ("sent", mended["secondary_claim"])
    assert mended["secondary_claim"] != billed
    after = client.get(f"{CLAIMS}/{mended['secondary_claim']}").json()
    assert after["prior_payer_claim"] == changed
    assert problem(do(client, changed, "secondary", json={"correct": True}), 409)


def v3_states(client, vendor):
    day = today(client)
    days = {"startDate": day - timedelta(days=400), "endDate": day + timedelta(days=1)}
    answer = client.post(
        "/api/v3/claims/status/get_by_date", params={"vendorSiteId": f"{vendor.key}-1", **days}
    )
    return {row["ClaimNumber"]: row["CurrentState"] for row in answer.json()}


@pytest.mark.both_databases
def test_a_held_claim_is_not_sent_until_it_is_released(client, vendor, submit):
    number = submit()
    answer = do(client, number, "hold")
    assert (answer.status_code, answer.json()["state"]) == (200, "held"), answer.text
    assert do(client, number, "hold").json()["state"] == "held"
    assert v3_states(client, vendor)[number] == "Received"
    other = submit()
    advance(client, vendor, "0s")
    assert state(client, other) in IN_A_BATCH
    assert state(client, number) == "held"
    assert do(client, number, "release").json()["state"] == "received"
    advance(client, vendor, "0s")
    assert state(client, number) in IN_A_BATCH
    for verb in ("hold", "cancel"):
        refused = problem(do(client, number, verb), 409)
        assert "batch" in refused["detail"]
    history = [one["event"] for one in client.get(f"{CLAIMS}/{number}").json()["history"]]
    assert [one.partition(":")[0] for one in history[2:4]] == ["Held", "Released"]


@pytest.mark.both_databases
def test_a_canceled_claim_is_never_sent_and_its_id_is_free(client, vendor, submit):
    number = submit(Svc_VendorClaimId=(own := fresh_id()), F26_PatientAcctNumber=own[:12])
    assert do(client, number, "hold").status_code == 200
    assert do(client, number, "cancel").json()["state"] == "canceled"
    assert do(client, number, "cancel").json()["state"] == "canceled"
    assert v3_states(client, vendor)[number] == "Rejected"
    problem(do(client, number, "release"), 409)
    again = submit(Svc_VendorClaimId=own, F26_PatientAcctNumber=own[:12])
    assert client.get(f"{CLAIMS}/{again}").json()["predecessor"] == number
    assert client.get(f"{CLAIMS}/{number}").json()["successor"] == again
    listed = client.get(CLAIMS, params={"vendor_claim_id": own}).json()["data"]
    assert [one["claim_number"] for one in listed] == [again, number]


def test_a_claim_that_was_not_accepted_cannot_be_held(client, vendor):
    document = a_document(Svc_PayerId="NOPAYER")
    answer = post(client, document, params={"vendorSiteId": f"{vendor.key}-1"})
    (result,) = results(answer)
    for verb in ("hold", "release", "cancel"):
        assert "not accepted" in problem(do(client, result["RequestId"], verb), 409)["detail"]
    problem(client.get(f"{CLAIMS}/{result['RequestId']}/x12"), 409)
    fields = {"fields": {"Svc_PayerId": "TST01"}}
    corrected = do(client, result["RequestId"], "correct", json=fields)
    assert corrected.status_code == 200, corrected.text
    assert corrected.json()["sent_as"] == "new"


@pytest.mark.both_databases
@pytest.mark.parametrize("kind", ACCOUNTS)
def test_an_unsent_claim_is_corrected_in_its_place(client, submit, kind):
    number = submit(kind)
    fields = {"fields": {ACCOUNTS[kind]: "CORRECTED-1"}}
    dry = do(client, number, "correct", json=fields, params={"dry_run": "true"})
    assert dry.status_code == 200, dry.text
    assert dry.json()["claim_number"] is None
    assert "CORRECTED-1" in dry.json()["x12"]
    assert state(client, number) == "received"
    done = do(client, number, "correct", json=fields).json()
    assert (done["predecessor"], done["sent_as"], done["x12"]) == (number, "new", None)
    assert state(client, number) == "canceled"
    text = client.get(f"{CLAIMS}/{done['claim_number']}/x12")
    assert text.headers["content-type"] == "application/edi-x12"
    assert "CORRECTED-1" in text.text


def test_a_claim_is_read_as_it_is_sent_and_corrected_by_the_paths_of_findings(client, submit):
    number = submit(F24D_ProcedureModifier1="lt")
    content = do_get(client, number, "content").json()
    assert content["document_type"] == "MedicalClaim"
    claim = content["claim"]
    validated = client.post(
        f"{CLAIMS}/validate", json={"DocumentType": "MedicalClaim", "Claims": [claim]}
    )
    # The claim itself is the only thing in its way.
    assert {one["rule"] for one in validated.json()["claims"][0]["findings"] if one["severity"] == "error"} <= {"C107"}  # fmt: skip
    text = client.get(f"{CLAIMS}/{number}/x12").text
    for options in (
        {"params": {"format": "X12"}},
        {"headers": {"Accept": "application/edi-x12;q=1, */*;q=0.1"}},
    ):
        answer = do_get(client, number, "content", **options)
        assert (answer.headers["content-type"], answer.text) == ("application/edi-x12", text)
    problem(do_get(client, number, "content", params={"format": "xml"}), 400)

    total = str(float(claim["F24_ClaimLines"][0]["F24F_Charges"]) + 1)
    fields = {"f24_claimlines[0].f24f_charges": total, "F24_ClaimLines[7].F24F_Charges": "1"}
    refused = problem(do(client, number, "correct", json={"fields": fields}), 422)
    assert [one["field"] for one in refused["errors"]] == ["F24_ClaimLines[7].F24F_Charges"]
    del fields["F24_ClaimLines[7].F24F_Charges"]
    refused = problem(do(client, number, "correct", json={"fields": fields}), 422)
    assert {one["field"] for one in refused["errors"]} == {"F28_TotalCharge"}
    fields["F28_TOTALCHARGE"] = str(float(claim["F28_TotalCharge"]) + 1)
    done = do(client, number, "correct", json={"fields": fields})
    assert done.status_code == 200, done.text
    after = do_get(client, done.json()["claim_number"], "content").json()["claim"]
    assert float(after["F24_ClaimLines"][0]["F24F_Charges"]) == float(total)


def do_get(client, number, what, **options):
    return client.get(f"{CLAIMS}/{number}/{what}", **options)


def test_every_field_of_a_claim_survives_its_correction(client, vendor):
    for kind, name in ACCOUNTS.items():
        document = a_document(kind, full=True)
        answer = post(client, document, kind, params={"vendorSiteId": f"{vendor.key}-1"})
        number = results(answer)[0]["RequestId"]
        before = client.get(f"{CLAIMS}/{number}/x12").text
        done = do(client, number, "correct", json={"fields": {name: "OTHER-9"}}).json()
        after = client.get(f"{CLAIMS}/{done['claim_number']}/x12").text
        changed = [
            (old, new)
            for old, new in zip(before.splitlines()[4:], after.splitlines()[4:], strict=True)
            if old != new and number not in old
        ]
        assert [new for _, new in changed if "OTHER-9" not in new] == []


def test_a_correction_of_a_paid_claim_is_its_replacement(client, vendor, submit):
    number = submit()
    site = {"vendorSiteId": f"{vendor.key}-1"}
    client.post("/sandbox/advance", params=site, json={"By": "14d"})
    wait_until(lambda: state(client, number) == "complete")
    done = do(client, number, "correct", json={"fields": {"F26_PatientAcctNumber": "AGAIN"}})
    assert done.json()["sent_as"] == "replacement", done.text
    assert state(client, number) == "complete"
    later = do(client, number, "correct", json={"fields": {"F26_PatientAcctNumber": "LATE"}})
    assert done.json()["claim_number"] in problem(later, 409)["detail"]


DECISION = {
    "F09_OtherInsuredNameLast": "Lund", "F09_OtherInsuredNameFirst": "Ivo", "F09A_OtherInsuredGroupNum": "POL1",
    "F09_PatientRelationshipToInsured": "Spouse", "X12_OtherPayerName": "Harbor Health Plan",
    "F01A_InsuredId": "SECONDARY7",
}  # fmt: skip


@pytest.mark.safe_default(1)
def test_two_visits_and_a_secondary_claim_live_under_one_id(server, client, vendor, submit):
    """Nothing replaces what was paid unasked; V3, v1, the command and the raw 837 say the same."""
    site = {"vendorSiteId": f"{vendor.key}-1"}
    own = {"Svc_VendorClaimId": fresh_id(), "Svc_PayerId": "TST01", "F01A_InsuredId": "3001"}
    first = submit(**own)
    client.post("/sandbox/advance", params=site, json={"By": "14d"})
    wait_until(lambda: state(client, first) == "complete")
    before = client.get(f"{CLAIMS}/{first}").json()
    assert before["paid"] != "0.00"
    # Other content for what was paid: V3 and the check before it refuse it.
    changed = a_document(**own, F19_ClaimSupplementalInfoNoteText="CHANGED")
    [refused] = results(post(client, changed, params=site))
    assert refused["Status"] == "NotAccepted"
    [error] = refused["Errors"]
    assert (
        "To replace it, give 7 in F22_MedicaidResubmissionCode" in error["SupplementalInformation"]
    )
    assert "Another service needs a claim id of its own." in error["SupplementalInformation"]
    [checked] = client.post(
        f"{CLAIMS}/validate", params={"site": site["vendorSiteId"]}, json=changed
    ).json()["claims"]
    assert not checked["accepted"]
    assert checked["findings"][0]["message"] == error["SupplementalInformation"]
    # A secondary claim, with the first payer's decision.
    charge = a_document()["Claims"][0]["F28_TotalCharge"]
    decided = {
        "X12_ClaimPrimaryPayerPaidAmount": "10",
        "X12_ClaimContractualObligationAdjustments": f"45:{float(charge) - 10:.2f}",
        "X12_ClaimAdjudicationDate": str(today(client) - timedelta(days=1)),
    }
    answer = post(client, a_document(**own | DECISION | decided), params=site)
    [secondary] = [one["RequestId"] for one in results(answer) if one["Status"] == "Accepted"]
    assert f"It is secondary to {first}" in answer.headers["X-Notes"]
    advance(client, vendor, "14d")
    wait_until(lambda: state(client, secondary) == "complete")
    # Another visit.
    visit = a_document(**own)
    for line in visit["Claims"][0]["F24_ClaimLines"]:
        line |= dict.fromkeys(("F24A_DateOfServiceFrom", "F24A_DateOfServiceTo"), VISIT)
    answer = post(client, visit, params=site)
    [second] = [one["RequestId"] for one in results(answer) if one["Status"] == "Accepted"]
    assert "No service day is in common" in answer.headers["X-Notes"]
    for number in (second, secondary):
        sent = client.get(f"{CLAIMS}/{number}/x12").text
        assert ":B:1*" in sent
        assert "REF*F8" not in sent
    after = client.get(f"{CLAIMS}/{first}").json()
    assert {name: after[name] for name in before if name != "also_billed_as"} == {
        name: before[name] for name in before if name != "also_billed_as"
    }
    assert set(v3_states(client, vendor).items()) >= {
        (first, "Complete"), (secondary, "Complete"), (second, "Received"),
    }  # fmt: skip
    listed = client.get(CLAIMS, params={"vendor_claim_id": own["Svc_VendorClaimId"]}).json()["data"]
    assert {
        one["claim_number"]: (one["predecessor"], one["successor"], one["prior_payer_claim"])
        for one in listed
        if one["state"] != "not_accepted"
    } == {first: (None,) * 3, second: (None,) * 3, secondary: (None, None, first)}
    assert after["also_billed_as"] == [secondary]
    shown = [server.command("claim", "show", number) for number in (first, secondary)]
    assert f"also billed to payer TST01 as {secondary}" in shown[0]
    assert f"another claim under the same id: {second}" in shown[0]
    assert f"secondary of {first}" in shown[1]
    events = client.get("/clearlane/v1/events", params={"limit": 500}).json()["data"]
    assert {
        one["claim_number"]: one["data"].get("prior_payer_claim")
        for one in events
        if one["type"] == "claim.received" and one["claim_number"] in (first, second, secondary)
    } == {first: None, second: None, secondary: first}
    corrected = {one["claim_number"] for one in events if one["type"] == "claim.corrected"}
    assert not corrected & {first, second, secondary}
    # A correction names its claim, and keeps its payer and insured.
    moved = do(client, first, "correct", json={"fields": {"F01A_InsuredId": "SECONDARY8"}})
    assert "keeps its payer, insured and patient" in problem(moved, 409)["detail"]
    done = do(client, first, "correct", json={"fields": {"F26_PatientAcctNumber": "AGAIN2"}}).json()
    assert (done["predecessor"], done["sent_as"]) == (first, "replacement")
    assert state(client, second) in UNCHANGED


@pytest.mark.safe_default(12)
def test_a_claim_whose_correction_will_be_sent_is_not_canceled(client, submit):
    number = submit()
    fields = {"fields": {"F26_PatientAcctNumber": "SECOND"}}
    new = do(client, number, "correct", json=fields).json()["claim_number"]
    for verb in ("cancel", "hold", "release"):
        assert new in problem(do(client, number, verb), 409)["detail"]
    assert do(client, new, "cancel").json()["state"] == "canceled"
    assert "canceled" in problem(do(client, new, "correct", json=fields), 409)["detail"]


@pytest.mark.safe_default(4)
@pytest.mark.safe_default(12)
@pytest.mark.parametrize("kind", ACCOUNTS)
def test_a_void_is_carried_out_and_cannot_be_corrected(client, vendor, submit, kind):
    member = {MEDICAL: "F01A_InsuredId", DENTAL: "F15_InsuredID"}[kind]
    own = {"Svc_VendorClaimId": fresh_id(), member: "3001"}
    number = submit(kind, **own)
    advance(client, vendor, "14d")
    wait_until(lambda: state(client, number) == "complete")
    code = {MEDICAL: "F22_MedicaidResubmissionCode", DENTAL: "X12_ClaimFrequencyCode"}[kind]
    void = submit(kind, **own, **{code: "8"})
    fields = {"fields": {ACCOUNTS[kind]: "SECOND"}}
    for dry in ("true", "false"):
        answer = do(client, void, "correct", json=fields, params={"dry_run": dry})
        assert "is a void" in problem(answer, 409)["detail"]
    advance(client, vendor, "14d")
    wait_until(lambda: state(client, void) == "complete")
    assert "is a void" in problem(do(client, void, "correct", json=fields), 409)["detail"]
    for one in (number, void):
        claim = client.get(f"{CLAIMS}/{one}").json()
        assert (claim["state"], claim["label"], claim["paid"]) == ("complete", "voided", "0.00")
        assert v3_states(client, vendor)[one] == "Complete"
        wanted = {"types": "claim.voided,claim.denied", "limit": 500}
        events = client.get("/clearlane/v1/events", params=wanted).json()
        types = [event["type"] for event in events["data"] if event["claim_number"] == one]
        assert types[-1] == "claim.voided"
        assert "claim.denied" not in types
    findings = client.get(f"{CLAIMS}/{void}").json()["findings"]
    assert [one for one in findings if one["rule"].startswith("835")] == []


@pytest.mark.safe_default(5)
def test_the_event_of_a_payment_that_came_again_leads_to_it(client, vendor, submit):
    number = submit(F01A_InsuredId="3024")
    advance(client, vendor, "28d")
    wait_until(lambda: state(client, number) == "complete")
    events = client.get("/clearlane/v1/events", params={"types": "payment.duplicate"}).json()[
        "data"
    ]
    assert events
    [first] = client.get(f"{CLAIMS}/{number}").json()["payments"]
    data = next(one["data"] for one in events if one["data"]["duplicate_of"] == first["payment_id"])
    answer = client.get(data["url"])
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["payment_id"], found["state"]) == (data["payment_id"], "duplicate")
    assert (found["your_amount"], found["duplicate_of"]) == ("0.00", first["payment_id"])
    for part in ("x12", "csv", "claim_payments"):
        assert client.get(f"{data['url']}/{part}").status_code == 200


@pytest.mark.both_databases
def test_of_two_corrections_at_once_one_wins_and_the_others_learn_it(client, submit):
    number = submit()

    def correct(at):
        fields = {"fields": {"F26_PatientAcctNumber": f"RACE-{at}"}}
        return do(client, number, "correct", json=fields)

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(correct, range(6)))
    won = [one.json() for one in answers if one.status_code == 200]
    assert len(won) == 1
    for one in answers:
        if one.status_code != 200:
            assert won[0]["claim_number"] in problem(one, 409)["detail"]
    assert client.get(f"{CLAIMS}/{number}").json()["successor"] == won[0]["claim_number"]


def test_a_correction_that_cannot_pass_names_every_field_and_stores_nothing(client, submit):
    number = submit()
    cases = [
        ({}, {"fields"}),
        ({"Nope": 1, "Svc_VendorClaimId": "x"}, {"Nope", "Svc_VendorClaimId"}),
        (
            {"F03_PatientDob": "1/2/3", "F28_TotalCharge": "x"},
            {"F03_PatientDob", "F28_TotalCharge"},
        ),
        (  # a value that cannot be read beside a field that there is not; what rules would find waits
            {"Nope": 1, "F03_PatientDob": "1/2/3", "F28_TotalCharge": "1.00"},
            {"Nope", "F03_PatientDob"},
        ),
        ({"Svc_PayerId": "NOPAYER"}, {"Svc_PayerId"}),
        ({"F01A_InsuredId": None}, {"F01A_InsuredId"}),
    ]
    for fields, named in cases:
        refused = problem(do(client, number, "correct", json={"fields": fields}), 422)
        assert {one["field"] for one in refused["errors"]} >= named, fields
    problem(do(client, number, "correct", json={"fields": 1}), 400)
    problem(do(client, number, "correct", json={}), 400)
    assert state(client, number) in UNCHANGED


@pytest.mark.both_databases
def test_a_verb_is_done_once_under_its_key(client, submit):
    number = submit()
    key = {"Idempotency-Key": fresh_id()}
    fields = {"fields": {"F26_PatientAcctNumber": "ONCE"}}
    first = do(client, number, "correct", json=fields, headers=key)
    again = do(client, number, "correct", json=fields, headers=key)
    assert (again.status_code, again.json()) == (200, first.json())
    assert again.headers["idempotency-replayed"] == "true"
    other = {"fields": {"F26_PatientAcctNumber": "TWICE"}}
    problem(do(client, number, "correct", json=other, headers=key), 422)


def a_bill(*types, **changes):
    """A document of institutional claims, one for each type of bill."""
    claims = [
        {
            **ub04_samples.bill(one, DAY),
            "Svc_VendorClaimId": fresh_id(),
            "FL60_InsuredId": fresh_id(),
        }
        for one in types
    ]
    claims[0] |= changes
    return {"DocumentType": "InstitutionalClaim", "Claims": claims}


def test_claims_of_every_kind_are_submitted_with_their_problems_and_warnings(client, vendor):
    site = {"site": f"{vendor.key}-1"}
    for document in (a_document(MEDICAL, Svc_PayerId="TST01"), a_document(DENTAL)):
        found = client.post(CLAIMS, json=document, params=site).json()
        assert (found["accepted"], found["claims"][0]["problems"]) == (1, [])
    # The first lacks its covered days, which is a warning; the second has a charge that does not add up.
    document = a_bill("111", "131", "812", FL39_ValueCodes=None)
    document["Claims"][1]["FL47_ClaimTotalCharges"] = "1.00"
    key = {"Idempotency-Key": fresh_id()}
    first = client.post(CLAIMS, json=document, params=site, headers=key)
    assert first.status_code == 200, first.text
    warned, wrong, fine = first.json()["claims"]
    assert [one["accepted"] for one in (warned, wrong, fine)] == [True, False, True]
    assert [(one["rule"], one["field"]) for one in warned["warnings"]] == [
        ("I153", "FL39_ValueCodes")
    ]
    assert (warned["problems"], fine["problems"], fine["warnings"]) == ([], [], [])
    assert "FL47_ClaimTotalCharges" in {one["field"] for one in wrong["problems"]}
    again = client.post(CLAIMS, json=document, params=site, headers=key)
    assert (again.json(), again.headers["idempotency-replayed"]) == (first.json(), "true")
    # Without a key the claims are known by their ids.
    known = client.post(CLAIMS, json=document, params=site).json()["claims"]
    assert [one["claim_number"] for one in (known[0], known[2])] == [
        warned["claim_number"],
        fine["claim_number"],
    ]
    found = client.get(f"{CLAIMS}/{fine['claim_number']}").json()
    assert (found["kind"], found["state"]) == ("institutional", "received")
    bills = client.get(CLAIMS, params={"kind": "institutional"}).json()["data"]
    assert {one["claim_number"] for one in bills} >= {warned["claim_number"], fine["claim_number"]}
    # They are listed by type of bill, as people write it: with the frequency or without, with the zero of paper.
    number, own = fine["claim_number"], client.get(f"{CLAIMS}/{fine['claim_number']}").json()
    assert own["bill_type"] == "812"
    for given, fits in {"81": True, "812": True, "0812": True, "811": False, "8": None}.items():
        listed = client.get(CLAIMS, params={"bill_type": given})
        if fits is None:
            problem(listed, 400)
        else:
            assert (number in {one["claim_number"] for one in listed.json()["data"]}) is fits
    text = client.get(f"{CLAIMS}/{number}/x12").text
    assert ":A:2*" in text
    assert "005010X223A2" in text
    # A correction names the form locators.
    changed = {"fields": {"FL15_PointOfOrigin": "2", "FL80_Remarks": "See chart"}}
    corrected = do(client, fine["claim_number"], "correct", json=changed)
    assert corrected.status_code == 200, corrected.text
    sent = client.get(f"{CLAIMS}/{corrected.json()['claim_number']}/x12").text
    assert "CL1*3*2*30~" in sent
    assert "NTE*ADD*SEE CHART~" in sent
    wrong = {"fields": {"FL17_PatientStatus": "00", "FL99_None": 1}}
    refused = problem(do(client, warned["claim_number"], "correct", json=wrong), 422)
    assert {one["field"] for one in refused["errors"]} >= {"FL99_None"}


def test_a_document_that_cannot_be_read_is_refused_with_every_fault(client, vendor):
    site = {"site": f"{vendor.key}-1"}
    document = a_bill("111", "131", FL06_StatementFrom="yesterday", FL67_Diagnoses=None)
    del document["Claims"][1]["FL42_ServiceLines"][0]["FL42_RevenueCode"]
    refused = problem(client.post(CLAIMS, json=document, params=site), 400)
    assert {one["field"] for one in refused["errors"]} == {
        "Claims[0].FL06_StatementFrom",
        "Claims[0].FL67_Diagnoses",
        "Claims[1].FL42_ServiceLines[0].FL42_RevenueCode",
    }
    for wrong in ({"DocumentType": "Bill", "Claims": []}, {"Claims": []}, []):
        problem(client.post(CLAIMS, json=wrong, params=site), 400)
    problem(client.post(CLAIMS, json=a_bill("111")), 400)  # which of the two sites is it for


def test_validation_tells_every_finding_and_stores_nothing(client, vendor):
    document = a_document(claims=3)
    document["Claims"][1]["Svc_PayerId"] = "NOPAYER"
    del document["Claims"][2]["F02_PatientNameLast"]
    body = client.post(f"{CLAIMS}/validate", json=document).json()
    assert body["accepted"] == 1
    ids = [one["Svc_VendorClaimId"] for one in document["Claims"]]
    assert [one["vendor_claim_id"] for one in body["claims"]] == ids
    assert [one["accepted"] for one in body["claims"]] == [True, False, False]
    severities = {one["severity"] for one in body["claims"][0]["findings"]}
    assert severities == {"warning"}
    assert body["claims"][1]["findings"][0]["field"] == "Svc_PayerId"
    (missing,) = body["claims"][2]["findings"]
    assert missing["field"] == "F02_PatientNameLast"
    assert missing.keys() == {"rule", "severity", "field", "message", "act"}
    for own in ids:
        assert client.get(CLAIMS, params={"vendor_claim_id": own}).json()["data"] == []
    for wrong in ({}, {"DocumentType": "MedicalClaim"}, [], {"DocumentType": 1}):
        problem(client.post(f"{CLAIMS}/validate", json=wrong), 400)


def test_an_id_in_use_is_a_finding_of_validation(client, vendor, submit):
    document = a_document(Svc_PayerId="TST01")
    options = {"params": {"vendorSiteId": f"{vendor.key}-1"}}
    results(post(client, document, **options))
    document["Claims"][0]["F26_PatientAcctNumber"] = "OTHER"
    site = {"site": f"{vendor.key}-1"}
    body = client.post(f"{CLAIMS}/validate", json=document, params=site).json()
    assert body["accepted"] == 0
    assert body["claims"][0]["findings"][0]["rule"] == "C107"


def test_a_suspended_client_corrects_nothing(server, client, vendor, submit):
    number = submit()
    assert do(client, number, "hold").status_code == 200
    server.command("site", "suspend", f"{vendor.key}-1", "--yes")
    try:
        changed = {"fields": {"F26_PatientAcctNumber": "X"}}

        def refused():  # as soon as the node has noticed
            answer = do(client, number, "correct", params={"dry_run": "true"}, json=changed)
            return answer if answer.status_code != 200 else None

        wait_until(refused)
        answer = do(client, number, "correct", json=changed)
        assert problem(answer, 403)["type"].endswith("account_suspended")
        assert do(client, number, "release").status_code == 200
    finally:
        server.command("site", "activate", f"{vendor.key}-1")


@pytest.mark.slow
def test_a_setting_counts_at_once_and_a_person_sends_the_claim_anyway(server, client, vendor):
    """An operator raises a rule beside the running service; a person of the vendor overrules it for one claim."""
    line = a_document()["Claims"][0]["F24_ClaimLines"][0] | {"F24F_Charges": "0.00"}

    def send():
        free = {"F28_TotalCharge": "0.00", "F24_ClaimLines": [line], "Svc_PayerId": "TST01"}
        answer = post(client, a_document(**free), params={"vendorSiteId": f"{vendor.key}-1"})
        return results(answer)[0]

    def set_to(severity):
        server.command(
            "rule", "set", "C703", "--payer", "TST01", "--site", f"{vendor.key}-1",
            "--severity", severity, "--because", "rejects them",
        )  # fmt: skip

    assert send()["Status"] == "Accepted"
    set_to("error")
    refused = send()
    assert refused["Status"] == "NotAccepted"
    number, reason = refused["RequestId"], {"reason": "The payer asked for it."}
    biller, viewer = (f"{name}{random.getrandbits(30):x}" for name in ("rosa", "vera"))
    server.command("user", "add", biller, "--vendor", vendor.key, "--all-sites")
    site = ("--site", f"{vendor.key}-1")
    server.command("user", "add", viewer, "--vendor", vendor.key, *site, "--role", "viewer")
    for wrong in ({}, {"user": biller, "reason": " "}, reason | {"user": viewer}):
        problem(do(client, number, "send_anyway", json=wrong), 400)
    sent = do(client, number, "send_anyway", json=reason | {"user": biller})
    assert sent.status_code == 200, sent.text
    claim = client.get(f"{CLAIMS}/{sent.json()['claim_number']}").json()
    assert any(f"Sent anyway: {biller}" in one["event"] for one in claim["history"])
    problem(do(client, number, "send_anyway", json=reason | {"user": biller}), 409)
    guides = post(
        client,
        a_document(F28_TotalCharge="1.00", Svc_PayerId="TST01"),
        params={"vendorSiteId": f"{vendor.key}-1"},
    )
    refusal = do(
        client, results(guides)[0]["RequestId"], "send_anyway", json=reason | {"user": biller}
    )
    assert "C701 stops it: The X12 guide requires it" in problem(refusal, 409)["detail"]
    set_to("default")
    assert send()["Status"] == "Accepted"


def test_a_claim_is_canceled_at_its_payer_and_a_rejected_one_sent_again(client, vendor, submit):
    paid, rejected = submit(F01A_InsuredId="3001"), submit(F01A_InsuredId="3004")
    why = {"reason": "The visit was billed twice."}
    assert "cancel it before" in problem(do(client, paid, "void", json=why), 409)["detail"]
    advance(client, vendor, "20d")
    for wrong in ({}, {"reason": " "}, {"reason": "x" * 501}, why | {"other": 1}, []):
        problem(do(client, paid, "void", json=wrong), 400)
    problem(do(client, rejected, "resubmit", json={"reason": "x" * 501}), 400)
    for verb, number, sent_as in (("void", paid, "void"), ("resubmit", rejected, "new")):
        problem(do(client, "C0", verb, json=why), 404)
        shown = do(client, number, verb, json=why, params={"dry_run": "true"})
        assert shown.status_code == 200, shown.text
        assert (shown.json()["claim_number"], shown.json()["sent_as"]) == (None, sent_as)
        key = {"Idempotency-Key": fresh_id()}
        done, again = (do(client, number, verb, json=why, headers=key) for _ in range(2))
        assert (again.json(), again.headers["Idempotency-Replayed"]) == (done.json(), "true")
        new = done.json()["claim_number"]
        assert client.get(f"{CLAIMS}/{number}").json()["successor"] == new
        assert new in problem(do(client, number, verb, json=why), 409)["detail"]
    assert (
        "duplicate"
        in problem(do(client, submit_sent(client, vendor, submit), "resubmit", json={}), 409)[
            "detail"
        ]
    )


def submit_sent(client, vendor, submit):
    """Submit a claim that the payer takes in."""
    number = submit(F01A_InsuredId="3001")
    advance(client, vendor, "2d")
    return number


def test_the_payer_is_asked_about_a_claim_and_answers_in_words_by_field(client, vendor, submit):
    number = submit(F01A_InsuredId="3026")
    assert "was not sent" in problem(do(client, number, "inquire"), 409)["detail"]
    problem(do(client, "C0", "inquire"), 404)
    advance(client, vendor, "2d")
    asked = do(client, number, "inquire")
    assert asked.status_code == 200, asked.text
    answer = asked.json()
    assert (answer["result"], answer["by_file"]) == ("rejected", False)
    [status] = answer["statuses"]
    assert (status["code"], status["fields"]) == ("A3:562:85", ["F33A_BillingProviderNpi"])
    assert answer["payer_control_number"].startswith("S")
    claim = client.get(f"{CLAIMS}/{number}").json()
    assert claim["state"] == "rejected"
    assert "The payer was asked about the claim (276)" in [one["event"] for one in claim["history"]]
    listed = client.get(f"{CLAIMS}/{number}/inquiries").json()
    assert listed == {"data": [answer], "next": None}
