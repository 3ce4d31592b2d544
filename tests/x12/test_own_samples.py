"""Files of every kind that are written by hand: read, checked, viewed and described.

Also tests `x12/reader/reader`, `x12/checker/check`, `x12/views/claims`, `x12/views/benefits`, `x12/views/status` and
`x12/show/describe`. What is expected here was read from the files by eye.
"""

from decimal import Decimal

import pytest

from clearlane.kernel.finding import Severity
from clearlane.x12 import guides, views
from clearlane.x12.checker.check import check
from clearlane.x12.reader.reader import parse
from clearlane.x12.show.describe import describe
from clearlane.x12.writer.writer import write
from tests.corpus import OWN, own_samples
from tests.x12.findings_of import all_findings

KINDS = (*guides.KINDS, "TA1")
CLEAN = [sample for sample in own_samples() if sample.clean]


def content(name):
    return (OWN / name).read_bytes()


def view(name):
    (interchange,) = views.read_views(content(name))
    (one,) = interchange.sets
    return one.view


def words(name, segment, nth=0):
    """What is said of the codes of a segment, by place."""
    found = [one for one in describe(content(name)) if one.segment == segment][nth]
    return {part.place: part.words for part in found.parts if part.words}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_clean_sample(kind):
    assert [sample for sample in CLEAN if sample.kind == kind]


@pytest.mark.parametrize("sample", CLEAN, ids=str)
def test_a_clean_sample_is_read_checked_and_described_without_loss(sample):
    data = sample.path.read_bytes()
    file = parse(data)
    assert [one.guide.kind for one in file.sets()] == (
        [] if sample.kind == "TA1" else [sample.kind]
    )
    assert write(file) == data.replace(b"~\n", b"~")
    verdict = check(data)
    assert verdict.readable
    assert not [one for one in verdict.findings if one.severity is not Severity.INFO]
    rows = data.decode().split("~\n")[:-1]
    described = [*describe(data)]
    assert [one.segment for one in described] == [row.split("*")[0] for row in rows]
    assert all(one.name and all(part.name for part in one.parts) for one in described)
    for row, one in zip(rows, described, strict=True):
        values = {text for text in row.replace("^", "*").replace(":", "*").split("*")[1:] if text}
        shown = {text for part in one.parts for text in part.value.replace(":", "*").split("*")}
        assert row.startswith("ISA") or values <= shown, row


CLAIMS = {
    "837P/visit_and_second_payer.x12": [
        ("FB-1001", "205.5", ["150", "55.5"], ["J0190", "R51"], "ARDEN", "MDW10"),
        ("FB-1002", "120", ["120"], ["E119"], "LUND", "HHP20"),
    ],
    "837D/fillings_and_crown.x12": [("LD-2001", "1310", ["210", "1100"], [], "QUILL", "SUM30")],
    "837I/two_day_stay.x12": [
        ("RH-3001", "4850.25", ["2400", "1450.25", "1000"], ["I214", "R079"], "LUND", "HHP20")
    ],
}


@pytest.mark.parametrize("name", CLAIMS)
def test_the_claims_of_a_sample(name):
    found = [
        (
            entry.claim.number,
            str(entry.claim.charge),
            [str(line.charge) for line in entry.claim.lines],
            [code.code for code in entry.claim.diagnoses],
            entry.subscriber.party.name,
            entry.subscriber.payer.id,
        )
        for entry in view(name).claims_with_parties
    ]
    assert found == CLAIMS[name]


def test_a_remittance_adds_up():
    found = view("835/paid_denied_and_reversed.x12")
    assert found.payment.amount == Decimal("242.3")
    assert [(one.number, one.status, str(one.paid)) for one in found.claims] == [
        ("FB-1001", "1", "160"), ("FB-0900", "4", "0"), ("FB-0901", "1", "0"), ("FB-0902", "1", "0"), ("FB-0903", "1", "0"),
        ("FB-0850", "22", "-70"), ("FB-0850", "1", "85"), ("FB-0777", "1", "75"),
    ]  # fmt: skip
    assert found.totals.paid - found.totals.provider_adjusted == found.payment.amount


def test_an_inquiry_and_its_answer_name_the_same_patients():
    asked = view("270/subscriber_and_child.x12")
    answered = view("271/active_and_not_found.x12")
    for found in (asked, answered):
        traces = [trace.number for one in found.members for trace in one.traces]
        assert traces == ["VISIT-7", "VISIT-8"]
    assert [one.benefit for one in next(iter(answered.members)).benefits] == [
        "1",
        "C",
        "C",
        "A",
        "B",
        "F",
    ]
    assert [one.reason for one in answered.refusals] == ["75"]


STATUSES = {
    "277/paid_and_pending.x12": ["F1", "P1", "P1"],
    "277CA/accepted_and_rejected.x12": ["A1", "A1", "A2", "A3"],
}


@pytest.mark.parametrize("name", STATUSES)
def test_the_statuses_of_a_sample(name):
    found = [*every_category(view(name))]
    assert found == STATUSES[name]
    for at in range(len(found)):
        assert words(name, "STC", at).keys() >= {"STC01-1", "STC01-2"}


def every_category(value):
    if type(value).__name__ == "StatusView":
        yield value.codes[0].category
    elif isinstance(value, views.View):
        for name in value.__struct_fields__:
            yield from every_category(getattr(value, name))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from every_category(one)


def test_a_999_accepts_one_set_and_rejects_the_other():
    found = view("999/accepted_and_rejected.x12")
    assert [one.verdict for one in found.sets] == ["A", "R"]
    assert [(one.segment, len(one.elements)) for one in found.sets[1].errors] == [
        ("NM1", 1),
        ("DTP", 1),
    ]
    assert found.verdict_words.startswith("Partly accepted")


def test_a_ta1_accepts_one_interchange_and_rejects_the_other():
    (file,) = views.read_views(content("TA1/interchange_rejected.x12"))
    assert [(one.control, one.verdict, one.note_words) for one in file.answers] == [
        ("000000101", "A", "No error"),
        ("000000100", "R", "Control number was used before"),
    ]


@pytest.mark.parametrize(
    ("name", "segment", "place", "said"),
    [
        ("837P/visit_and_second_payer.x12", "SBR", "SBR01", "Primary"),
        ("837D/fillings_and_crown.x12", "DN2", "DN202", "Missing"),
        ("837I/two_day_stay.x12", "SV2", "SV204", "Days"),
        ("835/paid_denied_and_reversed.x12", "BPR", "BPR16", "2025-03-04"),
        ("270/subscriber_and_child.x12", "EQ", "EQ01", "Health benefit plan coverage"),
        ("271/active_and_not_found.x12", "EB", "EB01", "Active coverage"),
        ("276/where_is_the_claim.x12", "BHT", "BHT02", "Request"),
        ("277/paid_and_pending.x12", "BHT", "BHT06", "Response"),
        ("277CA/accepted_and_rejected.x12", "BHT", "BHT06", "Receipt acknowledgement"),
        ("999/accepted_and_rejected.x12", "AK9", "AK901", "Partly accepted: at least one set was rejected"),
        ("TA1/interchange_rejected.x12", "TA1", "TA105", "No error"),
    ],
)  # fmt: skip
def test_a_code_of_a_sample_is_explained(name, segment, place, said):
    assert words(name, segment)[place] == said


def test_a_faulty_sample_ends_in_findings_and_keeps_its_segments():
    data = content("837P/faulty_without_trailers.x12")
    file = parse(data)
    found = {
        (one.rule, one.position.segment_id)
        for one in all_findings(file)
        if one.severity is Severity.ERROR
    }
    assert found == {
        ("SEG-MISSING", "REF"), ("X837-SELF-FACTS", "NM1"), ("X837-TOTAL", "CLM"),
        ("SE-MISSING", "SE"), ("GE-MISSING", "GE"), ("IEA-MISSING", "IEA"),
    }  # fmt: skip
    assert write(file) == data.replace(b"!\n", b"!")
    (entry,) = view("837P/faulty_without_trailers.x12").claims_with_parties
    assert (entry.claim.number, entry.claim.charge) == ("FB-1003", Decimal(100))
