"""Claim submission over https on both databases: every documented response."""

import asyncio
import json
import random
import re
import ssl
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from clearlane.claims.forms import V3_DENTAL, V3_FORMS, V3_MEDICAL, samples
from tests.api.markers import places_with
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.one_database

PATHS = {
    V3_MEDICAL: "/api/v3/claims/submit",
    V3_DENTAL: "/api/v3/claims/submitDental",
}
DAY = datetime.now(UTC).date() - timedelta(days=30)
MEDICAL, DENTAL = V3_MEDICAL, V3_DENTAL
both_kinds = pytest.mark.parametrize("kind", V3_FORMS)


def fresh_id() -> str:
    return f"V{random.getrandbits(60):x}"


def a_document(kind=MEDICAL, *, full=False, claims=1, **changes):
    """A document of claims with ids of their own."""
    document = samples.document(kind, day=DAY, full=full)
    (claim,) = document["Claims"]
    document["Claims"] = [
        {**claim, "Svc_VendorClaimId": fresh_id(), **changes} for _ in range(claims)
    ]
    return json.loads(json.dumps(document, default=str))


@pytest.fixture(scope="module")
def acme(server, parties):
    with server.client(parties.acme.auth, params={"vendorSiteId": "A-1"}) as client:
        yield client


def post(client, document, kind=MEDICAL, **options):
    return client.post(PATHS[kind], json=document, **options)


def results(answer):
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["DocumentLevelErrors"] == []
    return body["ClaimResults"]


def model_state(answer):
    assert answer.status_code == 400, answer.text
    body = answer.json()
    assert body["Message"] == "The request is invalid."
    return body["ModelState"]


# Accepted.


@pytest.mark.both_databases
@both_kinds
@pytest.mark.parametrize("full", [False, True], ids=["minimal", "extended"])
def test_the_sample_documents_are_accepted(acme, kind, full):
    document = a_document(kind, full=full)
    (result,) = results(post(acme, document, kind))
    assert result["Status"] == "Accepted"
    assert result["Errors"] == []
    assert result["VendorClaimId"] == document["Claims"][0]["Svc_VendorClaimId"]
    assert result["RequestId"]


def test_claims_are_answered_in_order_accepted_and_not_side_by_side(acme):
    document = a_document(claims=3)
    document["Claims"][1]["F28_TotalCharge"] = 1
    document["Claims"][1]["F33A_BillingProviderNpi"] = "1234567890"
    answered = results(post(acme, document))
    assert [each["VendorClaimId"] for each in answered] == [
        each["Svc_VendorClaimId"] for each in document["Claims"]
    ]
    assert [each["Status"] for each in answered] == ["Accepted", "NotAccepted", "Accepted"]
    errors = answered[1]["Errors"]
    places = {error["Location"] for error in errors}
    assert {"Claims[1].F28_TotalCharge", "Claims[1].F33A_BillingProviderNpi"} <= places
    assert {(error["Type"], error["Code"]) for error in errors} == {("Validation", "Validation")}
    assert all(error["SupplementalInformation"].endswith(".") for error in errors)


def test_amounts_and_counts_may_be_strings_and_booleans_words(acme):
    document = a_document()
    claim = document["Claims"][0]
    claim["F28_TotalCharge"] = str(claim["F28_TotalCharge"])
    claim["F31_PhysicianOrSupplierSignatureIsOnFile"] = "true"
    assert results(post(acme, document))[0]["Status"] == "Accepted"


@pytest.mark.parametrize("spelling", ["Svc_VendorClaimId", "Svc_VendorClaimID"])
def test_the_dental_id_has_two_spellings(acme, spelling):
    document = a_document(DENTAL)
    claim = document["Claims"][0]
    id = claim.pop("Svc_VendorClaimId")
    claim[spelling] = id
    (result,) = results(post(acme, document, DENTAL))
    assert (result["VendorClaimId"], result["Status"]) == (id, "Accepted")


def test_a_payer_may_be_named_by_its_legacy_id_and_in_any_case(acme):
    assert results(post(acme, a_document(Svc_PayerId="tst01")))[0]["Status"] == "Accepted"


# Not accepted.


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("Svc_PayerId", "NOBODY"),
        ("Svc_PayerId", "TST02"),
        ("F33A_BillingProviderNpi", "1234567890"),
        ("F05_PatientState", "ZZ"),
        ("F05_PatientZip", "1234"),
        ("F21_DiagnosisCodes", ["ZZZ99"]),
        ("F03_PatientSex", "Q"),
        ("F06_PatientRelationshipToInsured", "Neighbor"),
        ("F03_PatientDob", "2999-01-01"),
    ],
)
def test_what_needs_knowledge_of_the_trade_is_a_validation_error(acme, field, value):
    (result,) = results(post(acme, a_document(**{field: value})))
    assert result["Status"] == "NotAccepted"
    assert any(error["Location"].startswith(f"Claims[0].{field}") for error in result["Errors"])


COMPLETE_BILLING = {
    "F33_BillingProviderZip": "787011234",
    "F33A_BillingProviderNpi": "1234567893",
}
SECOND_MEDICARE = {
    "F01_ClaimType": "Medicare",
    "F09_OtherInsuredNameLast": "Lund",
    "F09A_OtherInsuredGroupNum": "GRP300",
    "F09_PatientRelationshipToInsured": "Spouse",
    "X12_ClaimPrimaryPayerPaidAmount": 60,
    "X12_ClaimContractualObligationAdjustments": "45:10",
    "X12_ClaimPatientResponsibilityAdjustments": "1:30",
    "X12_ClaimAdjudicationDate": DAY.isoformat(),
    "F29_PatientAmountPaid": 12.5,
}


@pytest.mark.safe_default(9)
def test_what_a_provider_must_state_is_asked_for_and_never_guessed(acme, server, parties):
    """Medicare second: why, which payer came first, who is insured there, what the patient still owes."""
    named = {**SECOND_MEDICARE, "X12_OtherPayerName": "hhp"}
    (refused,) = results(post(acme, a_document(**named)))
    (error,) = refused["Errors"]
    assert (refused["Status"], error["Location"]) == (
        "NotAccepted",
        "Claims[0].X12_MedicareSecondaryReason",
    )
    for code in ("12", "13", "14", "15", "16", "41", "42", "43", "47"):
        assert f"{code} (" in error["SupplementalInformation"]

    def sent(**fields):
        (accepted,) = results(post(acme, a_document(**fields)))
        assert accepted["Status"] == "Accepted", accepted
        path = f"/clearlane/v1/claims/{accepted['RequestId']}"
        with server.client(parties.acme.auth) as client:
            found = client.get(path).json()["findings"]
            rows = client.get(f"{path}/x12").text.replace("\n", "").split("~")
        return rows, {(one["rule"], one["severity"]) for one in found}

    stated = {"X12_MedicareSecondaryReason": "12", "X12_OtherInsuredId": "M3000003"}
    rows, found = sent(**named, **stated)
    assert "SBR*S*18***12****MB" in rows
    assert "SBR*P*01*GRP300******ZZ" in rows
    assert "NM1*IL*2*LUND*****MI*M3000003" in rows
    assert "NM1*PR*2*HHP*****PI*HHP20" in rows
    assert [row for row in rows if row.startswith("AMT*EAF")] == ["AMT*EAF*17.5"]
    assert found & {("C119", "warning"), ("C765", "info"), ("C766", "warning")} == {
        ("C765", "info")
    }

    rows, found = sent(
        **SECOND_MEDICARE, X12_MedicareSecondaryReason="12", X12_OtherPayerName="Tidewater Fund"
    )
    assert "NM1*PR*2*TIDEWATER FUND*****PI*TIDEWATERFUND" in rows
    assert {("C119", "warning"), ("C766", "warning")} <= found


@pytest.mark.safe_default(9)
def test_a_claim_that_would_say_what_is_not_so_is_refused(acme):
    line = a_document()["Claims"][0]["F24_ClaimLines"][0]
    minutes = {"F24_ClaimLines": [line | {"X12_Anesthesia": True, "F24G_DaysOrUnits": 30}]}
    corrected = {"F22_MedicaidResubmissionCode": "6", "F22_OriginalReferenceNumber": "ICN1"}
    for changes, field, words in (
        (minutes, "F24_ClaimLines[0].X12_Anesthesia", "00100 to 01999"),
        (corrected, "F22_MedicaidResubmissionCode", "give 7 in F22_MedicaidResubmissionCode"),
    ):
        (result,) = results(post(acme, a_document(**changes)))
        (error,) = result["Errors"]
        assert error["Location"] == f"Claims[0].{field}"
        assert words in error["SupplementalInformation"]
    assert "F22_OriginalReferenceNumber" in error["SupplementalInformation"]


@pytest.mark.safe_default(9)
def test_what_accepted_claims_are_warned_of_is_noted_with_the_answer(acme):
    """The answer's form has no place for warnings: without the notes a number that is dropped would be dropped silently."""
    line = a_document()["Claims"][0]["F24_ClaimLines"][0]
    at_hospital = {"F24_ClaimLines": [line | {"F24B_PlaceOfServiceCode": "51"}]}
    changes = {"F22_OriginalReferenceNumber": "ICN1", **at_hospital}
    for claims, more in ((1, []), (4, ["3 more warnings are in the findings of the claims."])):
        answer = post(acme, a_document(claims=claims, **COMPLETE_BILLING, **changes))
        assert {one["Status"] for one in results(answer)} == {"Accepted"}
        notes = answer.headers["X-Notes"].split(" | ")
        assert [note.partition(" (warning): ")[0] for note in notes[:2]] == [
            "Claims[0].F18_HospitalizationDateFrom",
            "Claims[0].F22_OriginalReferenceNumber",
        ]
        assert "with an original it is not sent" in notes[1]
        assert "ICN1" not in answer.headers["X-Notes"]
        assert notes[min(2 * claims, 5) :] == more
    assert "X-Notes" not in post(acme, a_document(**COMPLETE_BILLING)).headers


def test_a_not_accepted_claim_may_be_corrected_under_the_same_id(acme):
    document = a_document()
    right = document["Claims"][0]["F28_TotalCharge"]
    document["Claims"][0]["F28_TotalCharge"] = 1
    assert results(post(acme, document))[0]["Status"] == "NotAccepted"
    assert results(post(acme, document))[0]["Status"] == "NotAccepted"
    document["Claims"][0]["F28_TotalCharge"] = right
    assert results(post(acme, document))[0]["Status"] == "Accepted"


# 400.


def test_an_empty_list_of_claims(acme):
    state = model_state(post(acme, {"DocumentType": "MedicalClaim", "Claims": []}))
    assert state == {"Claims": ["At least one claim is required."]}


def test_every_shape_fault_is_reported_at_once_under_the_documents_keys(acme):
    document = a_document(claims=2)
    document["Claims"][1]["F03_PatientDob"] = "01/02/1980"
    document["Claims"][1]["F24_ClaimLines"][0]["F24A_DateOfServiceFrom"] = "2024-02-30"
    document["Claims"][1]["F28_TotalCharge"] = "a lot"
    del document["Claims"][0]["F02_PatientNameLast"]
    document["Claims"][0]["F33_BillingProviderCity"] = "  "
    state = model_state(post(acme, document))
    assert state["Claims[1].F03_PatientDob"] == [
        "The value '01/02/1980' is not a valid date in the format yyyy-mm-dd."
    ]
    assert state["Claims[1].F24_ClaimLines[0].F24A_DateOfServiceFrom"] == [
        "The value '2024-02-30' is not a valid date in the format yyyy-mm-dd."
    ]
    assert state["Claims[0].F02_PatientNameLast"] == ["The F02_PatientNameLast field is required."]
    assert state["Claims[0].F33_BillingProviderCity"] == [
        "The F33_BillingProviderCity field is required."
    ]
    assert "Claims[1].F28_TotalCharge" in state
    assert len(state) == 5


@both_kinds
def test_document_type_and_path_disagree(acme, kind):
    other = DENTAL if kind is MEDICAL else MEDICAL
    assert next(iter(model_state(post(acme, a_document(kind), other)))) == "DocumentType"


def test_the_rendering_providers_name_is_required_with_any_of_his_fields(acme):
    state = model_state(post(acme, a_document(X12_RenderingNPI="1679576722")))
    assert state == {
        "Claims[0].X12_RendProviderNameLast": ["The X12_RendProviderNameLast field is required."]
    }


def test_nothing_of_a_malformed_document_is_stored(acme):
    document = a_document(claims=2)
    good = document["Claims"][0]["Svc_VendorClaimId"]
    del document["Claims"][1]["F02_PatientNameLast"]
    model_state(post(acme, document))
    document["Claims"].pop()
    document["Claims"][0]["F26_PatientAcctNumber"] = "another"
    (result,) = results(post(acme, document))
    assert (result["VendorClaimId"], result["Status"]) == (good, "Accepted")


def test_unknown_fields_are_ignored_and_named_in_a_header(acme):
    document = a_document(F02_PatientNameLst="x")
    answer = post(acme, document)
    assert results(answer)[0]["Status"] == "Accepted"
    assert answer.headers["x-ignored-fields"] == "Claims[0].F02_PatientNameLst"


def test_a_large_document_of_errors_gets_the_first_and_the_number_of_the_others(acme):
    """So large that it is read twice: unknown fields fill it up. Each claim says how many errors it has."""
    document = a_document(claims=230, Filling="x" * 40_000)
    for claim in document["Claims"][1:]:
        (line,) = claim["F24_ClaimLines"]
        wrong = {"F24D_HcpcsProcedureCode": "??", "F24D_Modifiers": "!!"}
        claim["F24_ClaimLines"] = [line | wrong] * 30
    answer = post(acme, document)
    assert "content-length" not in answer.headers
    assert answer.headers["X-Ignored-Fields"].startswith("Claims[0].Filling, Claims[1].Filling")
    first, *others = results(answer)
    assert (first["Status"], first["Errors"]) == ("Accepted", [])
    assert {each["Status"] for each in others} == {"NotAccepted"}
    last = others[0]["Errors"][-1]
    more = re.fullmatch(
        r"And (\d+) more errors in this claim: the first 50 are listed\.",
        last["SupplementalInformation"],
    )
    assert (len(others[0]["Errors"]), last["Location"]) == (51, "Claims[1]")
    (unlisted,) = others[-1]["Errors"]
    assert unlisted["Location"] == "Claims[229]"
    assert unlisted["SupplementalInformation"] == (
        f"This claim has {50 + int(more[1])} errors. An answer lists 10000 errors at most: send the claim in a "
        "smaller document to see its errors."
    )
    assert sum(len(each["Errors"]) for each in others) <= 10_000 + len(others)


def test_too_many_claims_are_a_413(acme):
    document = {"DocumentType": "MedicalClaim", "Claims": [{}] * 5_001}
    answer = post(acme, document)
    assert answer.status_code == 413
    assert "5000" in answer.json()["Message"]


# The account.


def test_a_suspended_account_gets_the_document_level_error(server, parties):
    with server.client(parties.acme.auth) as client:
        answer = post(client, a_document(), params={"vendorSiteId": "A-SUSPENDED"})
    assert answer.status_code == 200
    body = answer.json()
    assert body["ClaimResults"] == []
    (error,) = body["DocumentLevelErrors"]
    assert (error["Type"], error["Code"]) == ("System", "InvalidSourceDocument")
    assert "Unknown client" in error["SupplementalInformation"]


def test_without_a_baa_nothing_is_read(server, parties):
    with server.client(parties.acme.auth) as client:
        answer = post(client, a_document(), params={"vendorSiteId": "A-2"})
    assert answer.status_code == 401
    assert int(answer.text.partition(":")[0]) == 201


# The same id again.


@pytest.mark.both_databases
@both_kinds
def test_the_same_content_gives_the_same_answer_and_is_stored_once(acme, kind):
    document = a_document(kind)
    first = results(post(acme, document, kind))
    assert results(post(acme, document, kind)) == first


def test_equal_amounts_written_differently_are_the_same_content(acme):
    document = a_document()
    claim = document["Claims"][0]
    first = results(post(acme, document))
    claim["F28_TotalCharge"] = f"{float(claim['F28_TotalCharge']):.2f}"
    assert results(post(acme, document)) == first


@pytest.mark.both_databases
def test_other_content_under_a_living_id_names_the_first_claim(acme):
    document = a_document()
    (first,) = results(post(acme, document))
    document["Claims"][0]["F26_PatientAcctNumber"] = "CHANGED"
    (second,) = results(post(acme, document))
    assert second["Status"] == "NotAccepted"
    (error,) = second["Errors"]
    assert error["Location"] == "Claims[0].Svc_VendorClaimId"
    assert first["RequestId"] in error["SupplementalInformation"]


@pytest.mark.both_databases
def test_the_same_id_twice_in_one_document_counts_as_sent_later(acme):
    document = a_document()
    claim = document["Claims"][0]
    document["Claims"] = [claim, claim, {**claim, "F26_PatientAcctNumber": "OTHER"}]
    one, two, three = results(post(acme, document))
    assert (one["Status"], two) == ("Accepted", one)
    assert three["Status"] == "NotAccepted"
    assert one["RequestId"] in three["Errors"][0]["SupplementalInformation"]


@pytest.mark.both_databases
def test_ids_belong_to_a_site_and_a_kind(server, parties, acme):
    document = a_document()
    (own,) = results(post(acme, document))
    with server.client(parties.other.auth, params={"vendorSiteId": "B-1"}) as other:
        (foreign,) = results(post(other, document))
    assert foreign["Status"] == "Accepted"
    assert foreign["RequestId"] != own["RequestId"]
    dental = a_document(DENTAL)
    dental["Claims"][0]["Svc_VendorClaimId"] = document["Claims"][0]["Svc_VendorClaimId"]
    assert results(post(acme, dental, DENTAL))[0]["Status"] == "Accepted"


@pytest.mark.both_databases
async def test_a_hundred_equal_posts_at_once_make_one_claim(server, parties):
    document = a_document()
    context = ssl.create_default_context(cafile=server.ca_file)
    async with httpx.AsyncClient(
        base_url=server.base_url,
        verify=context,
        auth=parties.acme.auth,
        params={"vendorSiteId": "A-1"},
        timeout=PATIENCE_SECONDS,
        limits=httpx.Limits(max_connections=25),
    ) as client:
        answers = await asyncio.gather(
            *(client.post(PATHS[MEDICAL], json=document) for _ in range(100))
        )
    reported = {answer.text for answer in answers}
    assert len(reported) == 1
    assert json.loads(reported.pop())["ClaimResults"][0]["Status"] == "Accepted"


@pytest.mark.both_databases
def test_a_cut_connection_and_the_same_document_again_make_one_claim(server, parties, acme):
    """Cut after every so many bytes sent; whatever was stored, the next answer is one claim each."""
    import base64
    import socket

    document = a_document(claims=2)
    body = json.dumps(document).encode()
    credentials = base64.b64encode(":".join(parties.acme.auth).encode()).decode()
    head = (
        f"POST {PATHS[MEDICAL]}?vendorSiteId=A-1 HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Basic {credentials}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()
    context = ssl.create_default_context(cafile=server.ca_file)
    whole = head + body
    for cut in (10, len(head), len(head) + 50, len(whole) - 1, len(whole)):
        with (
            socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as raw,
            context.wrap_socket(raw, server_hostname="127.0.0.1") as wrapped,
        ):
            wrapped.sendall(whole[:cut])
    first = results(post(acme, document))
    assert [each["Status"] for each in first] == ["Accepted", "Accepted"]
    assert results(post(acme, document)) == first


# What is kept.


@pytest.mark.both_databases
@both_kinds
@pytest.mark.parametrize("shape", ["judged", "malformed"])
def test_a_marker_in_every_text_of_a_claim_is_readable_nowhere(server, acme, kind, shape):
    """Accepted or refused, malformed or not: neither log, metric, file nor table holds a value."""
    marker = f"QZ{random.getrandbits(32):08X}"
    document = a_document(kind, full=True)
    document["Claims"] = [marked(claim, marker) for claim in document["Claims"]]
    if shape == "malformed":
        document["Claims"][0]["F03_PatientDob" if kind is MEDICAL else "F13_InsuredDOB"] = marker
    answer = post(acme, document, kind)
    assert answer.status_code == {"judged": 200, "malformed": 400}[shape]
    assert places_with(server, marker) == []


def marked(value, marker: str):
    """The same claim with the marker in every text that is not its payer, a date or a number."""
    if isinstance(value, dict):
        return {
            name: item if name == "Svc_PayerId" else marked(item, marker)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [marked(item, marker) for item in value]
    is_text = isinstance(value, str) and re.search(r"[A-Za-z]", value) is not None
    return marker if is_text else value


@pytest.mark.both_databases
def test_every_submission_is_one_line_of_the_audit_chain(server, acme):
    request = f"req-{fresh_id()}"
    (result,) = results(post(acme, a_document(), headers={"X-Request-Id": request}))
    exported = server.command("audit", "export", "--format", "jsonl")
    lines = [json.loads(line) for line in exported.splitlines() if request in line]
    assert [line["action"] for line in lines] == ["claims.submit"]
    assert result["RequestId"] in json.dumps(lines[0])
    assert lines[0]["detail"] == "1 Accepted, 0 NotAccepted; from 127.0.0.1"


# As other programs write.


def in_camel_case(value):
    if isinstance(value, dict):
        return {name[0].lower() + name[1:]: in_camel_case(item) for name, item in value.items()}
    return [in_camel_case(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("kind", V3_FORMS)
def test_names_in_any_case_make_the_same_claim(acme, kind):
    document = a_document(kind, full=True)
    (exact,) = results(post(acme, document, kind))
    answer = post(acme, in_camel_case(document), kind)
    (other,) = results(answer)
    assert other == exact
    assert "x-ignored-fields" not in answer.headers


def test_the_callers_id_comes_back_byte_for_byte_and_is_compared_trimmed(acme):
    id = fresh_id()
    document = a_document(Svc_VendorClaimId=f" {id}\t")
    (first,) = results(post(acme, document))
    assert first["VendorClaimId"] == f" {id}\t"
    document["Claims"][0]["Svc_VendorClaimId"] = id
    (again,) = results(post(acme, document))
    assert (again["VendorClaimId"], again["RequestId"]) == (id, first["RequestId"])
    assert again["Status"] == "Accepted"


def test_what_was_tolerated_is_recorded_and_shown_folded(server, acme):
    document = in_camel_case(a_document(F05_PatientZip=57104, F11D_OtherPlan=1))
    (result,) = results(post(acme, document))
    shown = server.command("claim", "show", result["RequestId"])
    assert "Field names were read in another case" in shown
    assert "F05_PatientZip came as a number and was read as text." in shown
    assert "F11D_OtherPlan was read as true or false." in shown
    assert "fields were put in upper case." in shown


def test_a_payer_listed_for_eligibility_alone_takes_no_claims(acme):
    (result,) = results(post(acme, a_document(Svc_PayerId="TST1E")))
    assert result["Status"] == "NotAccepted"
    assert "eligibility alone" in result["Errors"][0]["SupplementalInformation"]


def test_a_document_in_utf_16_is_read(acme):
    content = json.dumps(a_document()).encode("utf-16-le")
    headers = {"Content-Type": "text/json; charset=utf-16"}
    answer = acme.post("/api/v3/claims/submit", content=content, headers=headers)
    assert results(answer)[0]["Status"] == "Accepted"


@pytest.mark.both_databases
def test_a_call_is_found_again_by_its_request_id_without_patient_data(server, acme):
    good, bad = a_document(), a_document(F05_PatientState="XX")
    taken = {**good["Claims"][0], "F05_PatientCity": "Elsewhere"}
    document = {**good, "Claims": [*good["Claims"], *bad["Claims"], taken]}
    id = f"call-{fresh_id()}"
    first, second, _ = results(post(acme, document, headers={"X-Request-Id": id}))
    shown = server.command("call", "show", id)
    assert "Claims were submitted." in shown
    assert "answered 200: 1 Accepted, 2 NotAccepted" in shown
    assert first["RequestId"] in shown
    assert f"{second['RequestId']}  not_accepted" in shown
    assert good["Claims"][0]["F02_PatientNameLast"] not in shown
    (found,) = json.loads(server.command("call", "show", id, "--json"))
    assert found["ids"][:2] == [first["RequestId"], second["RequestId"]]
