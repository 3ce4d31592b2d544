"""The tables of both kinds: whole, true to the guide, and readable back.

Also tests `claims/write/write_837`, `claims/write/claim_context`, `claims/write/line_controls` and `claims/responses/field_lookup`.
"""

from collections import OrderedDict
from dataclasses import replace

import pytest

from clearlane.claims.fields import fields_of, nested_parts
from clearlane.claims.forms import FORMS, V3_DENTAL, V3_MEDICAL, AnyForm
from clearlane.claims.responses.field_lookup import field_places, field_words, source_fields
from clearlane.claims.write.claim_context import line_contexts
from clearlane.claims.write.write_837 import (
    OutgoingClaim,
    TradingPartner,
    account_of,
    context_of,
    has_other_payer,
    write_claims,
)
from clearlane.kernel import limits
from clearlane.kernel.finding import SegmentPosition, Severity
from clearlane.x12.checker.check import check
from clearlane.x12.delimiters import Delimiters
from clearlane.x12.grammar import LoopSpec as GuideLoop
from clearlane.x12.path import get, node_at
from clearlane.x12.reader.reader import parse
from clearlane.x12.tree import Loop
from clearlane.x12.writer.encode import format_element
from tests.cases import every_case, full_or_quick
from tests.claims.outgoing import (
    ENVELOPE,
    RECEIVER,
    SUBMITTER,
    dental,
    extended,
    medical,
    outgoing,
    random_claims,
    root_of,
    segments,
    written,
)

KINDS = list(FORMS.values())
READ_BACK = full_or_quick(150, 40)


# --- the tables agree with the catalogue and the guide ------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_has_a_place_or_a_reason_and_none_has_both(kind):
    tables = kind.placements
    schema = kind
    placed = {place.name for place in field_places(kind) if "." not in place.name}
    catalogue = set(fields_of(schema.claim)) | set(fields_of(schema.line))
    assert placed | tables.not_sent.keys() == catalogue
    assert not placed & tables.not_sent.keys()
    of_lines = {
        place.name for place in field_places(kind) if place.of_line and "." not in place.name
    }
    assert of_lines == set(fields_of(schema.line))


def test_every_field_of_teeth_and_adjustments_has_a_place():
    placed = {place.name.rpartition(".")[2] for place in field_places(V3_DENTAL)}
    for part in nested_parts(V3_DENTAL.line).values():
        assert set(fields_of(part)) <= placed


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_sent_has_a_sentence_for_a_reason(kind):
    for reason in kind.placements.not_sent.values():
        assert reason[0].isalnum()
        assert reason.endswith(".")


@pytest.mark.parametrize("kind", KINDS)
def test_every_place_is_one_of_the_guide(kind):
    loops = {loop.id: loop for loop in guide_loops(kind.placements.guide.root)}
    for place in field_places(kind):
        # The group of a CAS is its first element, but no key of the guide.
        at = place.path._replace(qualifier="") if place.path.id == "CAS" else place.path
        node = node_at(loops[at.loop], at)
        if at.element:
            element = node.elements[at.element - 1]
            assert element.usage != "N", place.place
            assert at.component <= len(element.components), place.place
        assert at.nth <= (node.repeat or at.nth), place.place


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_random_claims_use_every_row_of_the_tables(kind):
    seen: dict[str, set[str]] = {}
    with_ssn = {
        V3_MEDICAL: medical(F25_FederalTaxIdEin=None, F25_FederalTaxIdSsn="987654320"),
        V3_DENTAL: dental(X12_TINorSSNQualifier="SY"),
    }
    own = [with_ssn[kind]] if kind in with_ssn else []
    for claim in (*random_claims(kind, 250), extended(kind), *own):
        for scope, values, _ in written_values(kind, outgoing(claim)):
            seen.setdefault(scope.loop, set()).update(values)
    # The months of an orthodontic treatment are always given, so the mark never stands alone; and no
    # sample has so many teeth, diagnoses, groups and reasons that the last places of a list are used.
    many = (
        "2300/DN2#", "2400/TOO#", "2300/HI/", "2300/HI:", "2320/CAS#", "2430/CAS#", "2430#2/CAS#", "2300/CRC:",
        "2300/DN1/04",
    )  # fmt: skip
    for scope in kind.placements.loops:
        unused = set(scope.placement.fields) - seen[scope.loop] - scope.generated.keys()
        assert {name for name in unused if not name.startswith(many)} == set()


# --- what is written can be read back -------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_written_file_gives_every_value_back(kind):
    outs = [outgoing(claim, at) for at, claim in enumerate(random_claims(kind, READ_BACK))]
    found = {loops[-1].value("REF", 2, "D9"): loops for loops in levels(root_of(written(outs)))}
    for out in outs:
        loops = {loop.id: loop for loop in found[out.number]}
        lines = list(loops["2300"].loops("2400"))
        for scope, values, line in written_values(kind, out):
            loop = lines[line] if scope.loop == "2400" else loops.get(scope.loop, loops["2300"])
            if scope.loop == "2320":
                loop = [*loops["2300"].loops("2320")][line]
            # The decision of a second payer alone is the first of the line.
            first = {name.replace("2430#2", "2430") for name in values} <= values.keys()
            for name, value in values.items():
                if "2430#2" in name and not first:
                    continue
                place = scope.direct_places().get(name, name)
                assert get(loop, place) == expected(place, value), f"{name} at {place}"


@pytest.mark.parametrize("kind", KINDS)
def test_every_sent_field_is_found_by_its_place(kind):
    """Provenance answers for every element that a field was put into."""
    for place in field_places(kind):
        names = {source.field for source in source_fields(kind, place.place, line=1)}
        path = f"{kind.lines_field}[0].{place.name}" if place.of_line else place.name
        unnumbered = path if "#" in place.place else _without_index(path)
        assert unnumbered in {
            _without_index(name) if "#" not in place.place else name for name in names
        }


# --- numbers ----------------------------------------------------------------------------------------------


def test_the_account_number_is_the_claim_number_only_if_it_is_free():
    claim = medical(F26_PatientAcctNumber="ACCT-1")
    assert segments(claim, account_as_number=True)[clm(segments(claim))].startswith("CLM*ACCT-1*")
    rows = segments(claim)
    assert rows[clm(rows)].startswith(f"CLM*{outgoing(claim).number}*")
    assert account_of(claim) == "ACCT-1"


def test_a_long_account_number_gives_way_to_the_claim_number():
    claim = medical(F26_PatientAcctNumber="A" * 21)
    assert account_of(claim) is None
    rows = segments(claim, account_as_number=True)
    assert rows[clm(rows)].startswith(f"CLM*{outgoing(claim).number}*")
    assert account_of(medical()) is None
    assert account_of(dental(F23_PatientID="P" * 20)) == "P" * 20


@pytest.mark.parametrize("claim", [medical(F26_PatientAcctNumber="A"), dental(F23_PatientID="A")])
def test_our_number_is_always_the_trace_number(claim):
    assert f"REF*D9*{outgoing(claim).number}" in segments(claim, account_as_number=True)


def test_every_line_has_a_control_number_of_its_own():
    line = {"F24F_Charges": "1", "F24E_DiagnosisPointers": ["A"], "F24B_PlaceOfServiceCode": "11",
            "F24D_HcpcsProcedureCode": "99213", "F24A_DateOfServiceFrom": "2026-04-10"}  # fmt: skip
    number = outgoing(medical()).number
    lines = [line, line | {"X12_ProviderControlNumber": f"{number}-1"}, line]
    rows = segments(medical(F24_ClaimLines=lines, F28_TotalCharge="3"))
    controls = [row[7:] for row in rows if row.startswith("REF*6R*")]
    assert controls == [f"{number}-1X", f"{number}-1", f"{number}-3"]
    assert all(len(control) <= 30 for control in controls)


# --- layouts -------------------------------------------------------------------------------------------------


def test_a_line_sends_its_place_only_if_it_is_not_that_of_the_claim():
    line = {"F24F_Charges": "1", "F24E_DiagnosisPointers": ["A"], "F24D_HcpcsProcedureCode": "99213",
            "F24A_DateOfServiceFrom": "2026-04-10"}  # fmt: skip
    lines = [line | {"F24B_PlaceOfServiceCode": place} for place in ("11", "12", "11", "12")]
    rows = segments(medical(F24_ClaimLines=lines, F28_TotalCharge="4"))
    assert [row for row in rows if row.startswith("SV1*")] == [
        "SV1*HC:99213*1*UN*1***1",
        "SV1*HC:99213*1*UN*1*12**1",
    ] * 2


@pytest.mark.parametrize("kind", KINDS)
def test_plans_and_layouts_that_were_forgotten_are_made_again(kind, monkeypatch):
    outs = [outgoing(claim, at) for at, claim in enumerate(random_claims(kind, 20))]
    expected = written(outs)
    monkeypatch.setattr(limits, "SHAPES_REMEMBERED_MAX", 1)
    tables = [replace_memory(table, monkeypatch) for table in kind.placements.loops]
    assert written(outs) == expected
    assert all(len(table._plans) <= 1 and len(table._layouts) <= 1 for table in tables)


# --- levels, sets, envelope -----------------------------------------------------------------------------


def test_claims_of_one_billing_provider_share_a_level_and_levels_count_up():
    other = {"F33A_BillingProviderNpi": "1679576722"}
    child = {"F06_PatientRelationshipToInsured": "19", "F05_PatientAddress1": "1 LARK ST"}
    claims = [medical(), medical(**other), medical(**child), medical(**other)]
    data = written([outgoing(c, at) for at, c in enumerate(claims)])
    levels_ = [row for row in data.decode().split("~") if row.startswith("HL*")]
    assert levels_ == [
        "HL*1**20*1", "HL*2*1*22*0", "HL*3*1*22*1", "HL*4*3*23*0", "HL*5**20*1", "HL*6*5*22*0", "HL*7*5*22*0",
    ]  # fmt: skip


def test_a_set_holds_no_more_claims_than_it_may(monkeypatch):
    monkeypatch.setattr(limits, "CLAIMS_PER_SET_MAX", 3)
    data = written([outgoing(dental(), at) for at in range(7)])
    sets = list(parse(data).sets())
    assert [len(list(one.root.descendants("2300"))) for one in sets] == [3, 3, 1]
    assert len({one.root.value("BHT", 3) for one in sets}) == 3
    assert check(data).errors == 0


def test_header_names_submitter_and_receiver():
    rows = written([outgoing(medical())]).decode().split("~")
    assert rows[2:7] == [
        "ST*837*0001*005010X222A1",
        "BHT*0019*00*0000000170001*20260415*1230*CH",
        "NM1*41*2*CLEARLANE*****46*CL0001",
        "PER*IC*SERVICE DESK*TE*2065550100",
        "NM1*40*2*MEADOW MUTUAL*****46*MM001",
    ]


def test_other_separators_never_meet_the_text_of_a_claim():
    envelope = replace(ENVELOPE, delimiters=Delimiters("|", ">", "^", "\n"))
    claim = medical(F19_ClaimSupplementalInfoNoteText="a|b > c")
    data = written([outgoing(claim)], envelope)
    assert b"NTE|ADD|A B   C" in data
    assert get(root_of(data), "2300/NTE/02") == "A B   C"


@pytest.mark.parametrize(
    ("claims", "submitter", "says"),
    [
        ([], SUBMITTER, "at least one claim"),
        ([outgoing(medical()), outgoing(dental())], SUBMITTER, "must be a medical claim"),
        ([outgoing(medical())], TradingPartner(name="Clearlane", id="CL"), "telephone"),
    ],
)
def test_what_cannot_be_written_is_refused(claims, submitter, says):
    with pytest.raises(ValueError, match=says):
        list(write_claims(claims, ENVELOPE, submitter, RECEIVER))


def test_what_an_outgoing_claim_holds_is_not_printed():
    assert "ARDEN" not in repr(outgoing(medical()))


# --- provenance -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "at", "fields"),
    [
        (V3_MEDICAL, "2300/DTP:431/03", ["F14_DateOfCurrentIllnessOrSymptom"]),
        (V3_MEDICAL, "2300/CLM/01", ["F26_PatientAcctNumber"]),
        (V3_MEDICAL, "2010AA/N4/03", ["F33_BillingProviderZip"]),
        (V3_MEDICAL, "2400/SV1/01-4", ["F24_ClaimLines[2].F24D_HcpcsProcedureCode", "F24_ClaimLines[2].F24D_Modifiers", "F24_ClaimLines[2].X12_Description"]),
        (V3_MEDICAL, "2400/SV1/01-7", ["F24_ClaimLines[2].X12_Description"]),
        (V3_MEDICAL, "2400/DTP:472/03", ["F24_ClaimLines[2].F24A_DateOfServiceFrom", "F24_ClaimLines[2].F24A_DateOfServiceTo"]),
        (V3_MEDICAL, "2420E/NM1/03", ["F17_OrderingProviderNameLast"]),
        (V3_MEDICAL, "2430/CAS:PR/06", ["F24_ClaimLines[2].X12_LinePatientResponsibilityAdjustments"]),
        (V3_MEDICAL, "2300/HI/02", ["F21_DiagnosisCodes", "F21_IcdIndicator"]),
        (V3_MEDICAL, "2300/K3/01", []),
        (V3_DENTAL, "2400/TOO#2/03", ["LineItems[2].Teeth[1].F28_ToothSurface"]),
        (V3_DENTAL, "2300/DN2#4/01", ["F33_MissingTeeth"]),
        (V3_DENTAL, "2010AA/REF:EI/02", ["F51_BillingDentistTaxID"]),
    ],
)  # fmt: skip
def test_a_position_leads_back_to_the_fields(kind, at, fields):
    assert [source.field for source in source_fields(kind, at, line=3)] == fields


@every_case(
    ("path", "words"),
    [
        (
            "Claims[0].F22_MedicaidResubmissionCode",
            "Box 22, Resubmission code (F22_MedicaidResubmissionCode)",
        ),
        ("F24_ClaimLines[1].F24F_Charges", "Box 24F, line 2, Charge (F24F_Charges)"),
        (
            "Claims[3].F21_DiagnosisCodes[1]",
            "Box 21, Diagnosis codes, number 2 (F21_DiagnosisCodes)",
        ),
        ("Claims[0].F24_ClaimLines[0].Nothing[4]", "Nothing"),
        ("Claims[0]", ""),
    ],
)
def test_a_field_is_named_by_its_box_and_never_by_an_index_path(path, words):
    assert field_words(V3_MEDICAL, path) == words


def test_a_spot_and_the_segment_that_was_sent_lead_back_to_the_field():
    spot = SegmentPosition(loop="2310B", segment_id="REF", element=2)
    found = source_fields(V3_MEDICAL, spot, segment=["REF", "LU", "17"])
    assert {source.field for source in found} == {
        "X12_RendProviderLocationNumber", "F24_ClaimLines[].F24J_Shaded_RendProviderLocationNumber",
    }  # fmt: skip
    assert len(source_fields(V3_MEDICAL, spot)) == 8
    assert source_fields(V3_MEDICAL, SegmentPosition()) == ()
    (charge,) = source_fields(
        V3_MEDICAL, SegmentPosition(loop="2400", segment_id="SV1", element=2), line=1
    )
    assert charge == ("F24_ClaimLines[0].F24F_Charges", "24F", "Charge")


def test_findings_of_the_checker_lead_back_to_the_field():
    (finding,) = [
        finding
        for finding in check(written([outgoing(medical())])).findings
        if finding.rule == "X837-ADDRESS"
    ]
    assert finding.severity is Severity.WARNING
    (source,) = source_fields(V3_MEDICAL, finding.position)
    assert source.field == "F33_BillingProviderZip"


# --- helpers ----------------------------------------------------------------------------------------------


def written_values(kind: AnyForm, out: OutgoingClaim):
    """Yield each table that a claim fills, with its values and the line it is about."""
    tables = kind.placements
    context = context_of(out)
    yield tables.billing, tables.billing.values(context), 0
    yield tables.subscriber, tables.subscriber.values(context), 0
    if not context.patient_is_insured:
        yield tables.patient, tables.patient.values(context), 0
    yield tables.claim, tables.claim.values(context), 0
    for at, other in enumerate(context.others):
        yield tables.other, tables.other.values(other), at
    if has_other_payer(context) and not context.others:
        yield tables.other, tables.other.values(context), 0
    for number, line in enumerate(line_contexts(context)):
        yield tables.line, tables.line.values(line), number


def replace_memory(table, monkeypatch):
    """Let a table forget its plans and layouts for the time of a test."""
    monkeypatch.setattr(table, "_plans", OrderedDict())
    monkeypatch.setattr(table, "_layouts", OrderedDict())
    return table


def levels(root: Loop):
    """The loops above each claim of a set, and the claim."""
    for billing in root.loops("2000A"):
        for subscriber in billing.loops("2000B"):
            for claim in subscriber.loops("2300"):
                yield billing, subscriber, claim
            for patient in subscriber.loops("2000C"):
                for claim in patient.loops("2300"):
                    yield billing, subscriber, patient, claim


def expected(place: str, value: object) -> str:
    text = format_element(value)
    if place.endswith("/period"):
        return text.partition("*")[2]
    return text.partition("*")[0]


def clm(rows: list[str]) -> int:
    return next(at for at, row in enumerate(rows) if row.startswith("CLM*"))


def guide_loops(loop: GuideLoop):
    yield loop
    for child in loop.children:
        if isinstance(child, GuideLoop):
            yield from guide_loops(child)


def _without_index(name: str) -> str:
    head, bracket, rest = name.partition("Teeth[")
    return f"{head}Teeth[]{rest.partition(']')[2]}" if bracket else name
