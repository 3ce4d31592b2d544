"""Every 270 we write is accepted by our checker and by an independent one.

Also tests `eligibility/build_inquiry` and `inquiry/traced_sets`.
"""

import json
from random import Random

import pytest
from x12sdk.io import X12ModelReader

from clearlane.eligibility import services, write_270
from clearlane.kernel import formats
from clearlane.x12 import parse, views
from clearlane.x12.checker import check
from clearlane.x12.delimiters import Delimiters
from tests.eligibility.invented import MILO, TRACE, check_document, document, envelope, inquiry

RANDOM_REQUESTS = 300


def segments(data: bytes) -> list[list[str]]:
    return [row.split("*") for row in data.decode().split("~") if row]


def write_one(asked, wanted, trace):
    return b"".join(write_270.write_inquiries([(asked, trace)], wanted))


def written(**changes):
    return segments(write_one(inquiry(**changes), envelope(), TRACE))


def test_a_subscriber_is_asked_about():
    rows = ["*".join(row) for row in written()]
    assert rows[2:-3] == [
        "ST*270*0001*005010X279A1",
        f"BHT*0022*13*{TRACE}*20240501*1200",
        "HL*1**20*1",
        "NM1*PR*2*SANDBOX MEDICAL*****PI*TST01",
        "HL*2*1*21*1",
        "NM1*FA*1*FENN*OSKAR****XX*1234567893",
        "HL*3*2*22*0",
        f"TRN*1*{TRACE}*9CLEARLANE",
        "TRN*1*VISIT 7*9FERNHILL1",
        "NM1*IL*1*ARDEN*ROSA****MI*2001",
        "DMG*D8*19800229*F",
        "DTP*291*RD8*20240501-20240531",
        "EQ*30",
    ]


def test_a_dependent_is_asked_about_with_the_subscribers_number():
    found = document(subscriber_Dependents=[MILO], subscriber_RequestedBenefits=None)
    [inquiries] = check_document(found).inquiries
    rows = ["*".join(row) for row in segments(write_one(inquiries, envelope(), TRACE))]
    assert rows[8:-3] == [
        "HL*3*2*22*1",
        "NM1*IL*1*ARDEN*ROSA****MI*2001",
        "DMG*D8*19800229*F",
        "HL*4*3*23*0",
        f"TRN*1*{TRACE}*9CLEARLANE",
        "TRN*1*VISIT 8*9FERNHILL1",
        "NM1*03*1*ARDEN*MILO",
        "DMG*D8*20150304*M",
        "INS*N*19",
        "EQ*33^98",
    ]


def test_days_that_differ_stand_at_their_benefits():
    benefits = [
        {"Type": ["30"], "PlanDate": {"Start": "2024-05-01"}, "IsFamilyBenefit": True},
        {"Type": ["98"], "PlanDate": {"End": "2024-06-01"}},
        {"Type": ["35"]},
    ]
    rows = ["*".join(row) for row in written(subscriber_RequestedBenefits=benefits)]
    assert rows[-8:-3] == [
        "EQ*30**FAM",
        "DTP*291*D8*20240501",
        "EQ*98",
        "DTP*291*D8*20240601",
        "EQ*35",
    ]


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("1234567890", "1234567890"), ("9ABCDEFGHI", "9ABCDEFGHI"), ("", "9000000000"),
        ("site 4", "9SITE40000"), ("ABCDEFGHIJKLM", "9ABCDEFGHI"), ("5123456789", "9512345678"),
    ],
)  # fmt: skip
def test_who_gave_a_trace_number_is_reported_in_ten_characters(given, sent):
    assert write_270.format_originator(given) == sent


@pytest.mark.parametrize("nothing", [None, {}, {"OriginatorID": "9FERNHILL1"}])
def test_a_caller_without_a_number_has_no_second_trace(nothing):
    rows = written(subscriber_PayeeTraceNumber=nothing)
    assert [row[2] for row in rows if row[0] == "TRN"] == [TRACE]


@pytest.mark.parametrize("trace", ["", "a b", "A*B", "small"])
def test_a_trace_number_of_our_own_must_be_fit(trace):
    with pytest.raises(ValueError, match="trace"):
        write_one(inquiry(), envelope(), trace)


def test_other_separators_are_written_and_kept_out_of_texts():
    inquiries = inquiry(subscriber_CommonName="AR|DEN>X")
    wanted = envelope(delimiters=Delimiters("|", ">", "!", "\n"))
    data = write_one(inquiries, wanted, TRACE)
    assert b"NM1|IL|1|AR DEN X|ROSA" in data
    assert check.check(data).errors == 0


def test_a_batch_has_a_set_for_each_patient():
    inquiries = [(inquiry(subscriber_MemberId=f"30{at:02}"), f"T{at:010}") for at in range(25)]
    data = b"".join(write_270.write_inquiries(inquiries, envelope()))
    assert check.check(data).findings == ()
    found = [view.view for file in views.read_views(data) for view in file.sets]
    assert [view.heading.reference for view in found] == [trace for _, trace in inquiries]
    assert [member.party.id for view in found for member in view.members] == [
        one.member_id for one, _ in inquiries
    ]


def test_every_field_of_the_tables_has_a_place_that_is_written():
    whole = document(
        subscriber_Dependents=[MILO],
        subscriber_RequestedBenefits=[
            {"IsFamilyBenefit": True, "PlanDate": {"Start": "2024-05-01"}},
            {},
        ],
    )
    found: set[tuple[str, str]] = set()
    for inquiries in check_document(whole).inquiries:
        root = next(parse(write_one(inquiries, envelope(), TRACE)).sets()).root
        for scope in write_270.SCOPES:
            for loop in root.descendants(scope.scope):
                found |= {(scope.scope, field) for field in scope.read(loop)}
    dates = {("2100C", "period"), ("2110C", "period")}
    wanted = {(scope.scope, field) for scope in write_270.SCOPES for field in scope.fields}
    # Days stand at the patient or at the benefit, and a dependent asks about none here.
    late = {("2000C", "period"), ("2000D", "period"), ("2110D", "period")}
    assert wanted - found - dates <= late


WORDS = [*services.names("service_types").values(), *services.names("service_types")]
NPIS = [npi for npi in map(str, range(1234567890, 1234568200)) if formats.is_npi(npi)]
NAMES = ["Arden", "Lund", "Quill", "Ó Birch", "O'Fenn-Lund", "von Quill", "ÆBLE"]


def benefit(rng: Random) -> dict[str, object]:
    start = f"2024-{rng.randint(1, 12):02}-{rng.randint(1, 14):02}"
    end = f"2025-{rng.randint(1, 12):02}-{rng.randint(15, 28):02}"
    days = rng.choice([None, {"Start": start}, {"End": end}, {"Start": start, "End": end}])
    types = rng.sample(WORDS, rng.randint(0, 6))
    return {"IsFamilyBenefit": rng.choice([True, False, None]), "Type": types, "PlanDate": days}


def person(rng: Random) -> dict[str, object]:
    birth = f"{rng.randint(1925, 2023)}{{0}}{rng.randint(1, 12):02}{{0}}{rng.randint(1, 28):02}"
    trace = {
        "Number": f"n{rng.randint(1, 99999)}",
        "OriginatorID": rng.choice([None, "x", "1234567890"]),
    }
    return {
        "CommonName": rng.choice(NAMES),
        "FirstName": rng.choice(["Rosa", "Milo", "Ivo", "Tessa"]),
        "BirthDate": birth.format(rng.choice("-/")),
        "Gender": rng.choice(["Male", "F", "Unknown", None]),
        "PayeeTraceNumber": rng.choice([None, trace]),
        "RequestedBenefits": rng.choice([None, [benefit(rng) for _ in range(rng.randint(1, 4))]]),
    }


def random_document(rng: Random) -> dict[str, object]:
    relations = ["Spouse", "Child", "Other", "G8", None]
    dependents = [
        person(rng) | {"Relationship": rng.choice(relations)}
        for _ in range(rng.choice([0, 0, 1, 2]))
    ]
    subscriber = person(rng) | {
        "MemberId": rng.choice(["2001", "w-55/7", "ABC 123 456"]),
        "Dependents": dependents or None,
    }
    whole = document(payer_PayerId=rng.choice(["TST01", "TST02", "TST1E", "tst2e"]))
    payer = whole["BenefitInquiries"][0]["Payers"][0]
    payer |= {"Type": rng.choice(["Payer", None]), "EntityType": rng.choice(["Organization", None])}
    payer["Payees"][0] |= {
        "Type": rng.choice(["Facility", "Provider", "Hospital", None]),
        "EntityType": rng.choice(["Individual", "Organization", None]),
        "NationalProviderId": rng.choice(NPIS),
        "Subscribers": [subscriber],
    }
    return whole


def test_random_requests_are_accepted_by_both_checkers():
    inquiries = []
    for seed in range(RANDOM_REQUESTS):
        found = check_document(json.loads(json.dumps(random_document(Random(seed)))))
        assert found.results == []
        inquiries += found.inquiries
    pairs = [(one, f"T{at:010}") for at, one in enumerate(inquiries)]
    data = b"".join(write_270.write_inquiries(pairs, envelope()))
    assert [
        (f.rule, f.message) for f in check.check(data).findings if f.rule != "X270-RELATION"
    ] == []
    with X12ModelReader(data.decode()) as reader:
        assert len(list(reader.models())) == len(inquiries) >= RANDOM_REQUESTS
    written = {
        (row[0], *row[1:2]) for row in segments(data) if row[0] in {"TRN", "INS", "DTP", "NM1"}
    }
    assert {("NM1", "IL"), ("NM1", "03"), ("INS", "N"), ("DTP", "291")} <= written
