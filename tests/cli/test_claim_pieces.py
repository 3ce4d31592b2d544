"""A file of many claims is sent in pieces, in order, and answered as one document."""

import json

import pytest
from typer.testing import CliRunner

from clearlane.cli.claim import claim_pieces
from clearlane.cli.claim.claim_pieces import WholeAnswer, cut_document, move_path
from clearlane.cli.command.root import app
from tests.client.scripted_service import KEY, PASSWORD, SITE, Reply, Service


def document(count):
    claims = [{"Svc_VendorClaimId": f"A-{number}"} for number in range(count)]
    return {"DocumentType": "MedicalClaim", "Claims": claims}


def answer(numbers, refused=()):
    return Reply(
        body={
            "ClaimResults": [
                {
                    "VendorClaimId": f"A-{number}",
                    "Status": "NotAccepted" if number in refused else "Accepted",
                    "Errors": [
                        {"Type": "Validation", "Code": "Validation", "Location": f"Claims[{at}].F28",
                         "SupplementalInformation": "Bad."}
                    ] * (number in refused),
                    "RequestId": f"C{number}",
                }
                for at, number in enumerate(numbers)
            ],
            "DocumentLevelErrors": [],
        }
    )  # fmt: skip


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(claim_pieces, "CLAIMS_PER_DOCUMENT_MAX", 5)
    monkeypatch.setattr(claim_pieces, "CLAIMS_PER_PIECE", 4)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    running = Service(tmp_path_factory.mktemp("service"))
    yield running
    running.stop()


@pytest.fixture
def submit(service, monkeypatch):
    environment = {
        "CLEARLANE_CLIENT_URL": service.base_url,
        "CLEARLANE_CLIENT_KEY": KEY,
        "CLEARLANE_CLIENT_PASSWORD": PASSWORD,
        "CLEARLANE_CLIENT_SITE": SITE,
        "CLEARLANE_CLIENT_CA_FILE": str(service.ca_file),
    }
    monkeypatch.setattr("time.sleep", lambda _: None)

    def run(count, replies, *arguments):
        service.answer(*replies)
        return CliRunner().invoke(
            app,
            ["claim", "submit", "-", *arguments],
            input=json.dumps(document(count)),
            env=environment,
        )

    return run


def sent(service):
    return [
        [claim["Svc_VendorClaimId"] for claim in one.json["Claims"]] for one in service.received
    ]


@pytest.mark.parametrize(
    ("count", "skip", "expected"),
    [
        (5, 0, [(0, 5)]),
        (5, 2, [(2, 3)]),
        (6, 0, [(0, 4), (4, 2)]),
        (12, 4, [(4, 4), (8, 4)]),
        (12, 7, [(7, 5)]),
    ],
)
def test_a_document_is_cut_only_where_the_service_would_refuse_it(count, skip, expected):
    pieces = cut_document(document(count), skip=skip)
    assert [(one.first, one.count) for one in pieces] == expected
    ids = [claim["Svc_VendorClaimId"] for one in pieces for claim in one.document["Claims"]]
    assert ids == [f"A-{number}" for number in range(skip, count)]


def test_what_is_no_document_goes_as_it_is():
    assert [one.document for one in cut_document({"Claims": 5})] == [{"Claims": 5}]


def test_paths_are_those_of_the_whole_file():
    assert move_path("Claims[1].F24_ClaimLines[0].F24F", 4) == "Claims[5].F24_ClaimLines[0].F24F"
    assert move_path("DocumentType", 4) == "DocumentType"
    whole = WholeAnswer()
    whole.add({"ClaimResults": []}, ["Claims[0]: again."], ["Claims[1].Odd"], first=4)
    assert (whole.notes, whole.ignored) == (["Claims[4]: again."], ["Claims[5].Odd"])
    assert not whole.fine


def test_a_large_file_is_sent_in_order_and_answered_at_once(submit, service):
    done = submit(6, [answer(range(4)), answer([4, 5], refused={5})], "--json")
    assert sent(service) == [["A-0", "A-1", "A-2", "A-3"], ["A-4", "A-5"]]
    results = json.loads(done.stdout)["ClaimResults"]
    assert [one["RequestId"] for one in results] == [f"C{number}" for number in range(6)]
    assert results[5]["Errors"][0]["Location"] == "Claims[5].F28"
    assert done.exit_code == 1


def test_the_summary_counts_and_lists_what_was_not_accepted(submit, monkeypatch):
    monkeypatch.setattr("clearlane.cli.claim.claim_client.RESULTS_LISTED_MAX", 3)
    done = submit(6, [answer(range(4)), answer([4, 5], refused={5})])
    assert "6 claims: 5 accepted, 1 not." in done.stdout
    assert "A-5" in done.stdout
    assert "A-1" not in done.stdout


@pytest.mark.parametrize(
    ("reply", "status", "words"),
    [
        (Reply(503, {"Message": "Away."}), 3, ["Away."]),
        (Reply(400, {"Message": "The request is invalid.", "ModelState": {"Claims[1].F28": ["Bad."]}}),
         2, ["Claims[5].F28"]),
    ],
)  # fmt: skip
def test_an_interrupted_submission_says_how_to_go_on(submit, service, reply, status, words):
    done = submit(6, [answer(range(4)), reply])
    assert done.exit_code == status
    assert "4 of 6 claims were sent: 4 accepted, 0 not." in done.output
    assert "clearlane claim submit - --skip 4" in done.output
    assert [word for word in words if word not in done.output] == []
    again = submit(6, [answer([4, 5])], "--skip", "4")
    assert sent(service) == [["A-4", "A-5"]]
    assert (again.exit_code, "2 claims: 2 accepted." in again.output) == (0, True)
