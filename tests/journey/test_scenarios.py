"""Every scenario of the sandbox, over https: from submission to document. `test_numbers_agree` has them on PostgreSQL too.

Claims of each kind go out together, two lines of 150.00 and 50.00 each; then time is advanced from day to day and
the status list is looked at. Figures are computed by hand from what the scenario's row in the documentation says.

Also tests `cli/installation/sandbox`.
"""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal

import httpx
import pytest

from clearlane.claims.forms import V3_DENTAL, V3_FORMS, V3_MEDICAL, AnyForm, samples
from clearlane.x12.checker.check import check
from tests.api.service_process import ServiceProcess
from tests.databases import KINDS
from tests.patience import wait_until

pytestmark = pytest.mark.one_database

MEDICAL, DENTAL = V3_MEDICAL, V3_DENTAL
SUBMIT = {MEDICAL: "/api/v3/claims/submit", DENTAL: "/api/v3/claims/submitDental"}
BY_DATE = "/api/v3/claims/status/get_by_date"
BY_ID = "/api/v3/claims/responses/get_by_doc_id"
DAYS = (0, 1, 2, 5, 9, 14, 15, 21, 28, 40)
PLAN = "9001"
WHOLE_FILE = "3006"
"""Refuses every claim of its file, so it goes out alone."""
MEMBERS = (*(str(number) for number in range(3001, 3019)), PLAN)

ID_CHARACTERS_MIN = 27
"""160 bits, at six bits a character."""

# The sandbox's names for what a 277CA says before there is an 835.
TAKEN = "AcknowledgementAcceptanceIntoAdjudicationSystem"
INVALID = "AcknowledgementRejectedForInvalidInformation"


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What must be seen of one scenario. What is not said is as in a claim that is paid in full."""

    states: dict[int, str] = field(
        default_factory=lambda: {0: "Sent", 1: "Acknowledged", 14: "Complete"}
    )
    """The state from each day on."""
    action: str = "ProcessedAsPrimary"
    payer: str = "200"
    adjustments: str = "0"
    patient: str = "0"
    document: str = "RemittanceAdvice"
    explanations: tuple[tuple[str, int | None, str | None, tuple[str, ...]], ...] = ()
    """Code, line, amount and the caller's fields of each explanation, by part of a field's name."""
    words: str = ""
    """What the explanation must say, for people."""


CHARGE, CODE = ("charge",), ("code",)
NEED = ("diagnoses", "code")
AUTHORIZED = ("authorization",)

EXPECTED: dict[str, Expected] = {
    "3001": Expected(),
    "3002": Expected(
        # 20 % written off: 30 and 10. Of 120 + 40 the first 50 are deductible, of the rest 20 % coinsurance.
        payer="88",  # 120 - 50 - 14 = 56, 40 - 8 = 32
        adjustments="40",
        patient="72",
        explanations=(
            ("CO-45", 1, "30", CHARGE),
            ("PR-1", 1, "50", CHARGE),
            ("PR-2", 1, "14", CHARGE),
            ("CO-45", 2, "10", CHARGE),
            ("PR-2", 2, "8", CHARGE),
        ),
        words="Deductible",
    ),
    "3003": Expected(
        action="Denied",
        payer="0",
        adjustments="200",
        explanations=(("CO-50", 1, "150", NEED), ("CO-50", 2, "50", NEED)),
        words="medically necessary",
    ),
    "3004": Expected(
        states={0: "Sent", 1: "Rejected"},
        action=INVALID,
        payer="0",
        document="ClaimStatus",
        explanations=(("A7:562:85", None, None, ("npi",)),),
        words="NPI",
    ),
    "3005": Expected(
        states={0: "Rejected"},
        action="",
        payer="0",
        document="ClaimStatus",
        explanations=(("7", 1, None, CODE),),
        words="invalid code",
    ),
    "3006": Expected(
        states={0: "Rejected"},
        action="",
        payer="0",
        document="ClaimStatus",
        explanations=(("024", None, None, ()),),
        words="refused the whole file",
    ),
    "3007": Expected(states={0: "Sent", 1: "Acknowledged", 5: "Pending", 21: "Complete"}),
    "3008": Expected(
        # In the end; before the correction it is paid as charged. 25 % are 37.50 and 12.50.
        payer="150",
        adjustments="50",
        explanations=(("CO-45", 1, "37.5", CHARGE), ("CO-45", 2, "12.5", CHARGE)),
        words="contracted",
    ),
    "3009": Expected(states={0: "Sent"}, action="", payer="0", document=""),
    "3010": Expected(
        payer="0",
        adjustments="200",
        explanations=(("OA-18", 1, "150", CODE), ("OA-18", 2, "50", CODE)),
        words="duplicate",
    ),
    "3011": Expected(
        action="ProcessedAsPrimaryForwardedToAdditionalPayer",
        payer="160",  # 80 %
        patient="40",
        explanations=(("PR-2", 1, "30", CHARGE), ("PR-2", 2, "10", CHARGE)),
        words="Coinsurance",
    ),
    "3012": Expected(states={0: "Sent", 5: "Complete"}),
    "3013": Expected(states={0: "Sent", 2: "Acknowledged", 15: "Complete"}),
    "3014": Expected(
        payer="150",
        adjustments="50",
        explanations=(("CO-50", 2, "50", NEED),),
        words="medically necessary",
    ),
    "3015": Expected(),
    "3016": Expected(
        states={0: "Sent", 1: "Rejected"},
        action=INVALID,
        payer="0",
        document="ClaimStatus",
        explanations=(("A7:158:QC", None, None, ("birth",)),),
        words="birth",
    ),
    "3017": Expected(
        payer="0",
        adjustments="200",
        explanations=(("CO-16", 1, "150", CODE), ("CO-16", 2, "50", CODE)),
        words="right code",
    ),
    "3018": Expected(
        payer="0",
        adjustments="200",
        explanations=(("CO-197", 1, "150", AUTHORIZED), ("CO-197", 2, "50", AUTHORIZED)),
        words="authorization",
    ),
}
BY_PLAN = {
    # 99213 at 150: the plan allows 90, so 60 are written off, and 25 of it are copay: 65 are paid.
    # 93000 at 50: it allows 25, all of it deductible: nothing is paid.
    MEDICAL: Expected(
        payer="65",
        adjustments="85",
        patient="50",
        explanations=(
            ("CO-45", 1, "60", CHARGE),
            ("PR-3", 1, "25", CHARGE),
            ("CO-45", 2, "25", CHARGE),
            ("PR-1", 2, "25", CHARGE),
        ),
        words="Copayment",
    ),
    # D9110 at 150 has no fee: 80 % are allowed, 120; 50 of it are deductible, and 80 % of the other 70 are paid: 56.
    # D1110 at 50 is below its fee, and prevention is paid in full.
    DENTAL: Expected(
        payer="106",
        adjustments="30",
        patient="64",
        explanations=(
            ("CO-45", 1, "30", CHARGE),
            ("PR-1", 1, "50", CHARGE),
            ("PR-2", 1, "14", CHARGE),
        ),
        words="Deductible",
    ),
}
# The caller's own names of what an explanation points at.
FIELDS = {
    MEDICAL: {"charge": "F24F_Charges", "code": "F24D_HcpcsProcedureCode", "npi": "F33A_BillingProviderNpi",
              "diagnoses": "F21_DiagnosisCodes", "birth": "F03_PatientDob",
              "authorization": "F23_PriorAuthorizationNumber"},
    DENTAL: {"charge": "F31_LineFee", "code": "F29_ProcedureCode", "npi": "F48_BillingDentistNPI",
             "birth": "F13_InsuredDOB"},
}  # fmt: skip


def expected(kind: AnyForm, member: str) -> Expected:
    return BY_PLAN[kind] if member == PLAN else EXPECTED[member]


def a_claim(kind: AnyForm, member: str, day: date, prefix: str = "") -> dict:
    document = samples.document(
        kind, day=day, insured_id=member, claim_id=f"{prefix}{kind}-{member}"
    )
    claim = json.loads(json.dumps(document["Claims"][0], default=str))
    if kind is MEDICAL:
        (line,) = claim["F24_ClaimLines"]
        claim["F24_ClaimLines"] = [
            {**line, "F24D_HcpcsProcedureCode": code, "F24F_Charges": charge}
            for code, charge in (("99213", "150.00"), ("93000", "50.00"))
        ]
        return claim | {"F28_TotalCharge": "200.00", "F33A_BillingProviderNpi": "1234567893"}
    (line,) = claim["LineItems"]
    claim["LineItems"] = [
        {**line, "F29_ProcedureCode": code, "F31_LineFee": charge}
        for code, charge in (("D9110", "150.00"), ("D1110", "50.00"))
    ]
    return claim | {"F32_TotalFee": "200.00"}


class Caller:
    """A vendor's program that submits, advances and looks."""

    def __init__(self, server: ServiceProcess) -> None:
        facts = server.sandbox
        self.server = server
        self.today = server.advance_to_noon()
        """The day on which it submits."""
        self.client = server.client(
            (facts["vendor_key"], facts["vendor_password"]),
            params={"vendorSiteId": facts["vendor_site_id"]},
        )
        self.client.timeout = httpx.Timeout(120)

    def post(self, path: str, body: object = None, **query: str) -> object:
        answer = self.client.post(path, json=body, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def get(self, path: str, **query: str) -> dict:
        """Ask Clearlane's own API, whose calls take no `vendorSiteId`."""
        facts = self.server.sandbox
        with self.server.client((facts["vendor_key"], facts["vendor_password"])) as client:
            answer = client.get(f"/clearlane/v1/{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def submit(self, kind: AnyForm, *claims: dict) -> None:
        body = {"DocumentType": kind.document_type, "Claims": list(claims)}
        results = self.post(SUBMIT[kind], body)["ClaimResults"]
        assert [(one["Status"], one["Errors"]) for one in results] == [("Accepted", [])] * len(
            claims
        )

    def advance(self, days: int) -> None:
        self.post("/sandbox/advance", {"By": f"{days}d"})

    def statuses(self) -> dict[str, dict]:
        rows = self.post(
            BY_DATE,
            startDate=str(self.today),
            endDate=str(self.today + timedelta(days=60)),
        )
        return {row["VendorClaimId"]: row for row in rows}

    def documents(self, ids: list[str]) -> dict[str, dict]:
        found = self.post(BY_ID, ids)
        return {one["DocumentId"]: one for many in found.values() for one in many}


@dataclass
class ScenarioRun:
    """What was seen of every claim on every day."""

    caller: Caller
    days: dict[int, dict[str, dict]] = field(default_factory=dict)
    documents: dict[str, dict] = field(default_factory=dict)

    def row(self, kind: AnyForm, member: str, day: int = DAYS[-1]) -> dict:
        return self.days[day][f"{kind}-{member}"]

    def document(self, kind: AnyForm, member: str, day: int = DAYS[-1]) -> dict:
        return self.documents[self.row(kind, member, day)["RelatedDocumentId"]]


@pytest.fixture(scope="module", params=KINDS)
async def scenario_run(request, new_place) -> AsyncIterator[ScenarioRun]:
    """Forty days of a sandbox whose clock is frozen and advanced."""
    place = await new_place(request.param, served=True)
    server = ServiceProcess(place.data / "served", place.url).start()
    caller = Caller(server)
    try:
        with caller.client:
            yield forty_days(caller)
    finally:
        assert server.stop() == 0


def forty_days(caller: Caller) -> ScenarioRun:
    run = ScenarioRun(caller)
    caller.post("/sandbox/clock", {"Frozen": True})
    day = caller.today - timedelta(days=45)
    for kind in V3_FORMS:
        caller.submit(kind, a_claim(kind, WHOLE_FILE, day))
    caller.advance(0)
    for kind in V3_FORMS:
        caller.submit(kind, *(a_claim(kind, one, day) for one in MEMBERS if one != WHOLE_FILE))
    past = 0
    for day in DAYS:
        caller.advance(day - past)
        past = day
        run.days[day] = caller.statuses()
    ids = {row["RelatedDocumentId"] for rows in run.days.values() for row in rows.values()}
    run.documents = caller.documents(sorted(ids - {""}))
    return run


each_claim = pytest.mark.parametrize("member", MEMBERS)
each_kind = pytest.mark.parametrize("kind", V3_FORMS)


@each_kind
@each_claim
def test_a_claim_is_on_every_day_in_the_state_its_scenario_says(scenario_run, kind, member):
    state, states = "", {}
    for day in DAYS:
        state = expected(kind, member).states.get(day, state)
        states[day] = state
    assert {day: scenario_run.row(kind, member, day)["CurrentState"] for day in DAYS} == states


@each_kind
@each_claim
def test_action_and_amounts_are_the_scenarios_and_add_up(scenario_run, kind, member):
    row, wanted = scenario_run.row(kind, member), expected(kind, member)
    assert row["PayerAction"] == wanted.action
    found = [row[name] for name in ("PayerAmount", "Adjustments", "PatientAmount")]
    figures = [Decimal(text) for text in (wanted.payer, wanted.adjustments, wanted.patient)]
    assert [Decimal(str(amount)) for amount in found] == figures
    assert row["TotalClaimAmount"] == 200
    if row["CurrentState"] == "Complete":
        assert sum(found) == 200
        # The days that payers count are the days that are written.
        paid = max(day for day, state in wanted.states.items() if state == "Complete")
        paid = 28 if member == "3008" else paid
        today = scenario_run.caller.today
        assert row["PaymentEffectiveDate"] == str(today + timedelta(days=paid))


@each_kind
@each_claim
def test_the_document_names_the_claim_the_figures_and_why(scenario_run, kind, member):
    wanted, row = expected(kind, member), scenario_run.row(kind, member)
    assert row["RelatedDocumentType"] == wanted.document
    if not wanted.document:
        assert row["RelatedDocumentId"] == ""
        return
    found = scenario_run.document(kind, member)
    assert found["VendorClaimId"] == f"{kind}-{member}"
    assert found["ClearinghouseControlNumber"] == row["ClaimNumber"]
    assert found["X12Document"].startswith("ISA*")
    if wanted.document == "RemittanceAdvice":
        assert Decimal(str(found["PayerAmount"])) == Decimal(wanted.payer)
        assert Decimal(str(found["PatientAmount"])) == Decimal(wanted.patient)
        assert sum(line["PayerAmount"] for line in found["Lines"]) == found["PayerAmount"]
    explained = [
        (
            one["Code"],
            one["Line"],
            one["Amount"] and Decimal(str(one["Amount"])),
            {field["Location"].rpartition(".")[2] for field in one["Fields"]},
        )
        for one in found["Explanations"]
    ]
    assert [one[:3] for one in explained] == [
        (code, line, amount and Decimal(amount)) for code, line, amount, _ in wanted.explanations
    ]
    for (*_, fields), (*_, names) in zip(explained, wanted.explanations, strict=True):
        # A dental claim of the sample has no diagnoses to point at.
        assert {FIELDS[kind][name] for name in names if name in FIELDS[kind]} <= fields
    sentences = " ".join(f"{one['Message']} {one['Action']}" for one in found["Explanations"])
    assert wanted.words.lower() in sentences.lower()
    assert all(one["Action"] for one in found["Explanations"])


@each_kind
def test_before_the_835_the_277ca_is_the_document(scenario_run, kind):
    row = scenario_run.row(kind, "3001", 1)
    assert (row["PayerAction"], row["RelatedDocumentType"]) == (TAKEN, "ClaimStatus")
    assert row["PayerAmount"] == row["Adjustments"] == row["PatientAmount"] == 0
    found = scenario_run.document(kind, "3001", 1)
    assert found["Type"] == "277CA"
    assert [status["Category"] for status in found["Statuses"]] == ["A2"]


@each_kind
def test_a_pended_claim_says_what_the_payer_waits_for(scenario_run, kind):
    row = scenario_run.row(kind, "3007", 5)
    assert row["PayerAction"] == "PendingPayerReview"
    found = scenario_run.document(kind, "3007", 5)
    assert found["Type"] == "277"
    assert [(one["Category"], one["Code"]) for one in found["Statuses"]] == [("P2", "46")]


@each_kind
def test_a_corrected_claim_was_paid_in_full_before(scenario_run, kind):
    before, after = scenario_run.row(kind, "3008", 21), scenario_run.row(kind, "3008", 28)
    assert (before["PayerAmount"], before["Adjustments"]) == (200, 0)
    assert (after["PayerAmount"], after["Adjustments"]) == (150, 50)
    assert before["RelatedDocumentId"] != after["RelatedDocumentId"]
    assert [one["Code"] for one in scenario_run.document(kind, "3008")["RemarkCodes"]] == ["MA67"]


@pytest.mark.safe_default(2)
@each_kind
def test_the_documents_of_a_corrected_claim_are_the_same_whenever_they_are_read(scenario_run, kind):
    caller = scenario_run.caller
    days = (1, 21, 28)
    taken, first, last = (scenario_run.row(kind, "3008", at)["RelatedDocumentId"] for at in days)
    reads = []
    for asked in ([last], [first], [taken], [last, first], [last]):
        found = caller.post(BY_ID, asked)["RemittanceAdvices"]
        reads.append([(one["DocumentId"], one["PayerAmount"]) for one in found])
        assert caller.get(f"documents/{first}")["document_id"] == first
    assert [one == reads[0] for one in reads] == [True] * len(reads)
    assert [amount for _, amount in reads[0]] == [200, -200, 150]
    assert (reads[0][0][0], reads[0][-1][0]) == (first, last)


@pytest.mark.safe_default(5)
@each_kind
@pytest.mark.parametrize("member", ["3005", WHOLE_FILE])
def test_a_refused_claim_has_the_day_of_its_refusal(scenario_run, kind, member):
    row = scenario_run.row(kind, member)
    assert row["PayerActionDate"] == scenario_run.document(kind, member)["StatusDate"]
    assert row["PayerActionDate"] == str(scenario_run.caller.today)


@pytest.mark.safe_default(5)
@each_kind
def test_a_forwarded_claim_names_the_next_payer(scenario_run, kind):
    assert scenario_run.document(kind, "3011")["ForwardedTo"]
    get, number = scenario_run.caller.get, scenario_run.row(kind, "3011")["ClaimNumber"]
    claim = get(f"claims/{number}")
    assert (claim["state"], claim["label"]) == ("complete", "paid")
    assert ", forwarded to " in claim["reason"]
    events = get("events", types="claim.forwarded", limit="100")["data"]
    assert number in {one["claim_number"] for one in events}


def test_every_document_is_a_whole_interchange_that_names_no_other_claim(scenario_run):
    numbers = {row["ClaimNumber"] for row in scenario_run.days[DAYS[-1]].values()}
    assert {one.get("Type", "835") for one in scenario_run.documents.values()} == {
        "TA1", "999", "277CA", "277", "835",
    }  # fmt: skip
    for one in scenario_run.documents.values():
        text = one["X12Document"]
        assert {number for number in numbers if number in text} <= {
            one["ClearinghouseControlNumber"]
        }
        # Counts are right; only what is about the whole check cannot hold for a part of it: its sums, and that a
        # correction follows a reversal (two documents).
        assert {finding.rule for finding in check(text.encode()).findings} <= {
            "X835-CHECK",
            "X835-INTEREST",
            "X835-REVERSAL",
        }
        assert len(one["DocumentId"]) >= ID_CHARACTERS_MIN


def test_files_that_cannot_be_read_are_kept_apart_and_everything_else_is_applied(scenario_run):
    listed = json.loads(scenario_run.caller.server.command("inbox", "list", "--all", "--json"))
    unreadable = [one for one in listed if one["state"] == "quarantined"]
    assert len(unreadable) == 2 * len(V3_FORMS)  # a web page and half a file of each 3013
    assert {one["state"] for one in listed} == {"applied", "quarantined"}


@each_kind
def test_at_its_own_pace_a_claim_is_complete_without_anybody_advancing(scenario_run, kind):
    caller = scenario_run.caller
    caller.post("/sandbox/clock", {"Frozen": False, "SecondsPerDay": 0.1})
    day = caller.today - timedelta(days=45)
    caller.submit(kind, a_claim(kind, "3001", day, "pace-"))
    wait_until(lambda: caller.statuses()[f"pace-{kind}-3001"]["CurrentState"] == "Complete")
    assert caller.statuses()[f"pace-{kind}-3001"]["PayerAmount"] == 200
    caller.post("/sandbox/clock", {"Frozen": True, "SecondsPerDay": 2})
