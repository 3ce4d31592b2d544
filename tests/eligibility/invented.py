"""An invented request, its inquiry, the facts around it, and 271s that could answer it."""

import json
from collections import deque
from collections.abc import Generator
from copy import deepcopy
from datetime import UTC, date, datetime
from typing import Any, TypeVar

from clearlane.eligibility import decode, fields, read_271, rules
from clearlane.eligibility.inbound import PatientAnswer
from clearlane.eligibility.model import Inquiry
from clearlane.eligibility.stepwise import StepwiseCall
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.model import Payer
from clearlane.payers.samples import LIVE_PAYERS, TEST_PAYERS
from clearlane.x12 import Envelope

T = TypeVar("T")

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
TODAY = date(2024, 5, 1)
TRACE = "T0000000017"
SUBSCRIBER = "BenefitInquiries[0].Payers[0].Payees[0].Subscribers[0]"

ROSA = {
    "CommonName": "Arden",
    "FirstName": "Rosa",
    "BirthDate": "1980/02/29",
    "Gender": "Female",
    "MemberId": "2001",
    "PayeeTraceNumber": {"Number": "visit 7", "OriginatorID": "9FERNHILL1"},
    "Dependents": None,
    "RequestedBenefits": [
        {
            "IsFamilyBenefit": False,
            "Type": ["HealthBenefitPlanCoverage"],
            "PlanDate": {"Start": "2024-05-01", "End": "2024-05-31"},
        }
    ],
}
MILO = {
    "CommonName": "Arden",
    "FirstName": "Milo",
    "BirthDate": "2015-03-04",
    "Gender": "Male",
    "Relationship": "Child",
    "PayeeTraceNumber": {"Number": "visit 8", "OriginatorID": "9FERNHILL1"},
    "RequestedBenefits": [{"Type": ["Chiropractic", "98"]}],
}
DOCUMENT: dict[str, Any] = {
    "IsTest": True,
    "BenefitInquiries": [
        {
            "RequestType": "Request",
            "Payers": [
                {
                    "Type": "Payer",
                    "PayerId": "TST01",
                    "CommonName": "Sandbox Medical",
                    "EntityType": "Organization",
                    "Payees": [
                        {
                            "Type": "Facility",
                            "EntityType": "Individual",
                            "CommonName": "Fenn",
                            "FirstName": "Oskar",
                            "NationalProviderId": "1234567893",
                            "Subscribers": [ROSA],
                        }
                    ],
                }
            ],
        }
    ],
}

ODD_PAYERS = (
    Payer(
        "Medical",
        "Sleeping",
        "OFF01",
        "OFF01",
        offers_eligibility=True,
        active=False,
        has_route=True,
    ),
    Payer("Medical", "Cut Off", "CUT01", "CUT01", offers_eligibility=True),
)
SANDBOX = PayerDirectory([*TEST_PAYERS, *LIVE_PAYERS, *ODD_PAYERS], sandbox=True)
PRODUCTION = PayerDirectory([*TEST_PAYERS, *LIVE_PAYERS, *ODD_PAYERS], sandbox=False)


def document(**changes: Any) -> dict[str, Any]:
    """The request with changes: ``payer_PayerId="X"``, ``payee_...``, ``subscriber_...``, or top fields."""
    found = deepcopy(DOCUMENT)
    payer = found["BenefitInquiries"][0]["Payers"][0]
    payee = payer["Payees"][0]
    parts = {
        "inquiry": found["BenefitInquiries"][0],
        "payer": payer,
        "payee": payee,
        "subscriber": payee["Subscribers"][0],
    }
    for name, value in changes.items():
        part, _, field = name.partition("_")
        parts.get(part, found)[field or name] = value
    return found


def result_of(steps: Generator[None, None, T]) -> T:
    """Run a stepwise function without pauses."""
    call = StepwiseCall(steps)
    deque(call, maxlen=0)
    return call.result


def decode_request(document: bytes) -> decode.DecodedRequest:
    return result_of(decode.decode_stepwise(document))


def check_request(
    request: fields.EligibilityRequest, facts: rules.InquiryFacts
) -> rules.CheckedRequest:
    return result_of(rules.check_stepwise(request, facts))


def read(document: object) -> decode.DecodedRequest:
    return decode_request(json.dumps(document).encode())


NOT_ENROLLED_NPI = "1679576722"
"""The NPI of a provider whom no payer answers."""


def facts(*, sandbox: bool = True) -> rules.InquiryFacts:
    find = (SANDBOX if sandbox else PRODUCTION).find
    return rules.InquiryFacts(
        find=find,
        sandbox=sandbox,
        today=TODAY,
        why_not_asked=lambda payer, npi: "Send an enrollment." if npi == NOT_ENROLLED_NPI else "",
    )


def check_document(document: object, *, sandbox: bool = True) -> rules.CheckedRequest:
    found = read(document)
    assert found.request is not None, [(f.location, f.message) for f in found.findings]
    return check_request(found.request, facts(sandbox=sandbox))


def inquiry(**changes: Any) -> Inquiry:
    [found] = check_document(document(**changes)).inquiries
    return found


def envelope(**changes: Any) -> Envelope:
    given: dict[str, Any] = {
        "sender": "CLEARLANE",
        "receiver": "TST01",
        "control": 17,
        "moment": NOON,
    }
    return Envelope(**given | changes)


def answer_file(*body: str, group: str = "HB", kind: str = "271") -> bytes:
    """An interchange around the segments of one 271 (or 999)."""
    version = "005010X231A1" if kind == "999" else "005010X279A1"
    inside = [f"ST*{kind}*0001*{version}", *body]
    rows = [
        "ISA*00*          *00*          *ZZ*TST01          *ZZ*CLEARLANE      *240501*1201*^*00501*000000031*0*T*:",
        f"GS*{group}*TST01*CLEARLANE*20240501*1201*31*X*{version}",
        *inside,
        f"SE*{len(inside) + 1}*0001",
        "GE*1*31",
        "IEA*1*000000031",
    ]
    return "".join(row + "~" for row in rows).encode()


HEAD = (
    "BHT*0022*11*T0000000017*20240501*1201",
    "HL*1**20*1",
    "NM1*PR*2*SANDBOX MEDICAL*****PI*TST01",
)
RECEIVER = ("HL*2*1*21*1", "NM1*1P*1*FENN*OSKAR****XX*1234567893")
PERSON = (
    "HL*3*2*22*0",
    f"TRN*2*{TRACE}*9CLEARLANE",
    "TRN*2*VISIT 7*9FERNHILL1",
    "TRN*1*PAYER55*9MEADOWMUT*SECOND",
    "NM1*IL*1*ARDEN*ROSA****MI*2001",
    "DMG*D8*19800229*F",
)
DEPENDENT = ("HL*4*3*23*0", f"TRN*2*{TRACE}*9CLEARLANE", "NM1*03*1*ARDEN*MILO", "DMG*D8*20150304*M")
WITH_CHILD = (*HEAD, *RECEIVER, "HL*3*2*22*1", "NM1*IL*1*ARDEN*ROSA****MI*2001", *DEPENDENT)


def child() -> Inquiry:
    whole = document(subscriber_Dependents=[MILO], subscriber_RequestedBenefits=None)
    return check_document(whole).inquiries[0]


def answered(*body: str) -> PatientAnswer:
    [one] = read_271.read(answer_file(*body)).answers
    return one
