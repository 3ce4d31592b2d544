"""A position in an 837 leads back to the field of the claim it was written from.

Also tests `claims/responses/code_advice`, `claims/responses/advice_act`, `claims/responses/adjustment_advice` and `claims/write/sent_layout`.
"""

import re
from decimal import Decimal

import msgspec
import pytest

from clearlane.claims.fields import fields_of, nested_parts
from clearlane.claims.forms import FORMS, V3_DENTAL, V3_MEDICAL
from clearlane.claims.responses import acks, code_advice, provenance
from clearlane.claims.responses.facts import Complaint, Fact, FactKind
from clearlane.claims.responses.provenance import by_field, fields_at
from clearlane.claims.write import sent_layout
from clearlane.x12 import codes
from clearlane.x12.views import read_views, remittance
from tests.cases import every_case
from tests.claims.answers import (
    NOW,
    claim,
    controls,
    nine,
    outgoing,
    paid,
    patient,
    payment,
    sent,
    status,
    ta1,
)

SELF = claim(F06_PatientRelationshipToInsured="Self", F33A_BillingProviderNpi="1234567893")
CHILD = claim(
    F06_PatientRelationshipToInsured="Child",
    F02_PatientNameFirst="Milo",
    F02_PatientNameLast="Arden",
)
FULL = claim(full=True)
DENTAL = claim(V3_DENTAL)
OWN_DENTAL = claim(V3_DENTAL, F18_PatientRelationship="18")
FULL_DENTAL = claim(V3_DENTAL, full=True, F18_PatientRelationship="18")


def complained(one, claim, *, controls=()):
    fact = Fact(kind=FactKind.STATUS, at=NOW, source=one.source, complaints=(one,))
    [explanation] = provenance.explain_complaints(fact, claim, controls)
    return explanation


def stated(code, claim, *, category="A7", entity="", **more):
    return complained(
        Complaint(source="277CA", code=code, category=category, entity=entity, level="claim", **more), claim,
        controls=("L1", "L2"),
    )  # fmt: skip


def paths(explanation):
    return [field.path for field in explanation.fields]


def refused(out, segment, *errors, nth=1, kind=V3_MEDICAL):
    """Return the explanations of a 999 about one segment of a claim's file."""
    content = sent(out, kind=kind)
    at = [n for n, row in enumerate(content.decode().split("~")[2:], 1) if row.startswith(segment)][
        nth - 1
    ]
    answer = nine(
        21, ["AK2*837*0001*005010X222A1", f"IK3*{segment[:3].rstrip('*')}*{at}**8", *errors, "IK5*R*5"],
        verdict="R",
    )  # fmt: skip
    [message] = acks.read(answer)
    layout = sent_layout.read_layout(content, positions=message.reference.positions)
    [fact] = acks.derive_facts(message, layout)
    return list(provenance.explain_complaints(fact, out.claim, controls(out)))


# 999 and TA1.


@pytest.mark.parametrize(
    ("segment", "error", "path", "box"),
    [
        ("NM1*85", "IK4*9*67*7", "F33A_BillingProviderNpi", "33a"),
        ("N4", "IK4*3*116*1", "F33_BillingProviderZip", "33"),
        ("NM1*IL", "IK4*9*67*4", "F01A_InsuredId", "1a"),
        ("CLM", "IK4*2*782*1", "F28_TotalCharge", "28"),
        ("CLM", "IK4*5:1*1331*7", "F24_ClaimLines[0].F24B_PlaceOfServiceCode", "24B"),
        ("HI", "IK4*2*1271*7", "F21_DiagnosisCodes[1]", "21"),
        ("SV1", "IK4*1:2*234*7", "F24_ClaimLines[0].F24D_HcpcsProcedureCode", "24D"),
        ("SV1", "IK4*2*782*7", "F24_ClaimLines[0].F24F_Charges", "24F"),
        ("DTP*472", "IK4*3*1251*8", "F24_ClaimLines[0].F24A_DateOfServiceFrom", "24A"),
    ],
)  # fmt: skip
def test_an_element_that_a_999_refuses_is_reported_as_the_callers_field(segment, error, path, box):
    [explanation] = refused(outgoing("C1", SELF), segment, error)
    assert explanation.fields[0].path == path
    assert explanation.fields[0].box == box
    assert explanation.fields[0].form == "CMS-1500"
    assert f"box {box} of the CMS-1500" in explanation.happened
    assert explanation.todo == code_advice.CORRECT.sentence


def test_a_dental_999_names_the_dental_fields():
    [explanation] = refused(outgoing("C1", DENTAL), "SV3", "IK4*1:2*234*7", kind=V3_DENTAL)
    assert explanation.fields[0].path == "LineItems[0].F29_ProcedureCode"
    assert explanation.fields[0].form == "ADA"


def test_a_segment_that_a_999_refuses_names_the_fields_that_are_filled_in_it():
    [explanation] = refused(outgoing("C1", SELF), "N4")
    assert paths(explanation) == ["F33_BillingProviderCity", "F33_BillingProviderState"]


def test_a_generated_element_names_the_segments_fields():
    [explanation] = refused(outgoing("C1", SELF), "NM1*85", "IK4*8*66*7")
    assert "F33A_BillingProviderNpi" in paths(explanation)


def test_a_place_without_any_field_goes_to_the_operator():
    one = Complaint(source="999", code="2", level="segment", loop="2000A", segment="CUR")
    explanation = complained(one, SELF)
    assert explanation.fields == ()
    assert "the place 2000A/CUR" in explanation.happened
    assert "operator" in explanation.todo


def test_a_loop_cut_to_four_characters_is_still_understood():
    one = Complaint(source="999", code="7", level="element", loop="2010", segment="NM1", element=9)
    assert "F33A_BillingProviderNpi" in paths(complained(one, SELF))


def test_which_of_many_lines_is_left_open_where_nobody_says():
    assert paths(stated("187", FULL))[0] == "F24_ClaimLines[].F24A_DateOfServiceFrom"


def test_a_tooth_that_is_not_numbered_is_named_by_its_array():
    one = Complaint(
        source="999", code="7", level="element", loop="2400", segment="TOO", element=2, line=1
    )
    assert paths(complained(one, V3_DENTAL)) == ["LineItems[0].Teeth"]


def test_a_repeated_segment_is_reported_by_its_number():
    one = Complaint(
        source="999",
        code="7",
        level="element",
        loop="2400",
        segment="TOO",
        qualifier="JP",
        nth=2,
        element=2,
        line=1,
    )
    assert "LineItems[0].Teeth[1].F27_Tooth" in paths(complained(one, V3_DENTAL))


@pytest.mark.safe_default(5)
@pytest.mark.parametrize(
    ("note", "why"),
    [
        ("006", ": sender is invalid."),
        ("025", ": control number was used before."),
        ("", "."),
    ],
)
def test_after_a_ta1_the_advice_is_not_to_send_the_claim_again(note, why):
    """The file is the operator's, and the payer may have it."""
    [message] = acks.read(ta1(21, "R", note))
    [fact] = acks.derive_facts(message, sent_layout.read_layout(sent(outgoing("C1"))))
    [explanation] = provenance.explain_complaints(fact, SELF)
    assert explanation.happened == f"The payer refused the whole file this claim went in{why}"
    assert explanation.todo.startswith("Nothing in the claim is wrong: do not send it again.")
    assert explanation.act == "wait"


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        (FactKind.SEND_AGAIN, "because of other claims"),
        (FactKind.SET_REFUSED, "did not say why"),
        (FactKind.TA1_REFUSED, "did not say why"),
    ],
)
def test_a_refusal_without_reasons_is_reported_too(kind, part):
    [explanation] = provenance.explain_complaints(Fact(kind=kind, at=NOW, source="999"), SELF)
    assert part in explanation.happened
    assert explanation.todo


def test_a_set_that_is_refused_as_a_whole_is_reported_in_words():
    one = Complaint(source="999", code="4", level="set")
    assert (
        complained(one, SELF).happened
        == "The payer refused the whole set of claims: number of segments does not match."
    )


def test_an_acceptance_has_nothing_to_tell():
    assert (
        list(
            provenance.explain_complaints(
                Fact(kind=FactKind.ACCEPTED_999, at=NOW, source="999"), SELF
            )
        )
        == []
    )


def test_what_a_payer_notes_and_takes_all_the_same_asks_for_nothing_now():
    one = Complaint(source="999", code="4", level="set")
    fact = Fact(kind=FactKind.ACCEPTED_999, at=NOW, source="999", complaints=(one,))
    [explanation] = provenance.explain_complaints(fact, SELF)
    assert explanation.todo.startswith("Nothing now")


# Statuses.


@pytest.mark.parametrize(
    ("code", "entity", "path"),
    [
        ("562", "85", "F33A_BillingProviderNpi"),
        ("562", "82", "X12_RenderingNPI"),
        ("164", "IL", "F01A_InsuredId"),
        ("125", "IL", "F04_InsuredNameLast"),
        ("500", "85", "F33_BillingProviderZip"),
        ("178", "", "F28_TotalCharge"),
        ("254", "", "F21_DiagnosisCodes[0]"),
        ("187", "", "F24_ClaimLines[0].F24A_DateOfServiceFrom"),
        ("454", "", "F24_ClaimLines[0].F24D_HcpcsProcedureCode"),
        ("116", "PR", "Svc_PayerId"),
    ],
)
def test_a_status_names_the_field_it_is_about(code, entity, path):
    explanation = stated(code, SELF, entity=entity)
    assert path in paths(explanation)
    assert explanation.code == f"A7:{code}" + (f":{entity}" if entity else "")
    assert explanation.todo


@every_case(
    ("of", "code", "entity", "expected"),
    [
        # One person: name, birth date and sex stand in two boxes that must agree; the payer's entity says which first.
        (SELF, "158", "QC", ["F03_PatientDob", "F11A_InsuredDob"]),
        (SELF, "158", "IL", ["F11A_InsuredDob", "F03_PatientDob"]),
        (SELF, "157", "QC", ["F03_PatientSex", "F11A_InsuredSex"]),
        (SELF, "504", "QC", ["F02_PatientNameLast", "F04_InsuredNameLast"]),
        (SELF, "505", "IL", ["F04_InsuredNameFirst", "F02_PatientNameFirst"]),
        (SELF, "475", "", ["F24_ClaimLines[0].F24D_HcpcsProcedureCode", "F03_PatientDob", "F11A_InsuredDob"]),
        # Of two addresses of one person the insured's is sent, so that one is corrected first.
        (SELF, "503", "QC", ["F07_InsuredAddress1"]),
        (SELF, "500", "QC", ["F07_InsuredZip", "F05_PatientZip"]),
        (OWN_DENTAL, "158", "QC", ["F13_InsuredDOB"]),
        (FULL_DENTAL, "158", "QC", ["F20_PatientDOB", "F13_InsuredDOB"]),
        (FULL_DENTAL, "500", "QC", ["F12_InsuredZip", "F20_PatientZip"]),
        # Two persons: each has fields of its own.
        (CHILD, "158", "QC", ["F03_PatientDob"]),
        (CHILD, "158", "IL", ["F11A_InsuredDob"]),
        (CHILD, "504", "IL", ["F04_InsuredNameLast"]),
        (CHILD, "504", "QC", ["F02_PatientNameLast"]),
        (CHILD, "500", "QC", ["F05_PatientZip"]),
    ],
)  # fmt: skip
def test_the_box_of_the_person_whom_the_payer_means_comes_first(of, code, entity, expected):
    assert paths(stated(code, of, entity=entity)) == expected


def test_a_line_is_found_by_its_control_number():
    explanation = stated("454", claim(full=True), control="L2")
    assert explanation.line == 2
    assert paths(explanation)[0] == "F24_ClaimLines[1].F24D_HcpcsProcedureCode"


def test_what_concerns_the_clearinghouse_names_no_field_of_the_caller():
    explanation = stated("24", SELF, entity="41")
    assert explanation.fields == ()
    assert "enroll" in explanation.todo


def test_the_payers_own_words_are_passed_on():
    assert "The payer writes: CALL US" in stated("21", SELF, text="CALL US").happened


@pytest.mark.parametrize("category", ["A3", "A6", "A8", "P1", "P3", "F1", "R4", "D0", "E1", "Z9"])
def test_every_category_comes_with_advice(category):
    assert stated("21", SELF, category=category).todo


def test_an_unknown_status_is_reported_by_its_code():
    assert "Status 9X9X" in stated("9X9X", SELF).happened


# Remittances.


def decided(*rest, claim=SELF, code="1", lines=("C1-1", "C1-2"), amount="80"):
    [interchange] = read_views(payment(paid("C1", code, "100", amount, *rest)))
    [one] = interchange.sets
    [found] = one.view.claims
    assert isinstance(found, remittance.RemittanceClaimView)
    return list(provenance.explain_adjustments(found, claim, lines))


LINE = ("SVC*HC:99213*100*80**1", "DTM*472*20261001")


@pytest.mark.parametrize(
    ("reason", "path"),
    [
        ("CO*45", "F24_ClaimLines[0].F24F_Charges"),
        ("PR*1", "F24_ClaimLines[0].F24F_Charges"),
        ("CO*11", "F21_DiagnosisCodes"),
        ("CO*4", "F24_ClaimLines[0].F24D_HcpcsProcedureCode"),
        ("CO*31", "F01A_InsuredId"),
        ("CO*29", "F24_ClaimLines[0].F24A_DateOfServiceFrom"),
        ("CO*208", "F33A_BillingProviderNpi"),
        ("OA*18", "F24_ClaimLines[0].F24A_DateOfServiceFrom"),
        ("CO*109", "Svc_PayerId"),
        ("CO*6", "F03_PatientDob"),
        ("CO*6", "F11A_InsuredDob"),
    ],
)
def test_an_adjustment_of_a_line_names_the_field_it_is_about(reason, path):
    [explanation] = decided(*LINE, f"CAS*{reason}*20", "REF*6R*C1-1")
    assert path in paths(explanation)
    assert explanation.code == reason.replace("*", "-")
    assert (explanation.line, explanation.amount) == (1, 20)
    assert "$20.00 was not paid" in explanation.happened
    assert explanation.todo


def test_a_field_of_the_claim_has_once_what_every_line_was_adjusted_for():
    """Beside what a line alone has, and with the sum of the amounts."""
    [one] = decided(*LINE, "CAS*CO*50*1020", "REF*6R*C1-1")
    other = msgspec.structs.replace(
        one,
        happened=one.happened.replace("$1,020.00", "$0.50"),
        amount=Decimal("0.50"),
        line=2,
    )
    said = [(path, each.happened[:10]) for path, each in by_field([one, other])]
    assert said[0] == (one.fields[0].path, "$1,020.50 ")
    assert len(said) == len(one.fields)
    assert [each.happened for _, each in by_field([one])] == [one.happened] * len(one.fields)


def test_a_remark_says_more_exactly_what_is_missing():
    [explanation] = decided(*LINE, "CAS*CO*16*20", "REF*6R*C1-1", "LQ*HE*N290")
    assert "X12_RenderingNPI" in paths(explanation)
    assert "N290: Rendering provider's identifier is missing or invalid." in explanation.happened


def test_an_adjustment_of_the_claim_names_the_total_charge():
    [explanation] = decided("CAS*PR*2*20")
    assert paths(explanation) == ["F28_TotalCharge"]
    assert explanation.todo == code_advice.GROUP_ADVICE["PR"].sentence
    assert explanation.line == 0


def test_a_remark_of_the_claim_speaks_for_its_adjustments():
    [explanation] = decided("CAS*CO*16*20", "MOA***MA63")
    assert paths(explanation)[0] == "F21_DiagnosisCodes[0]"


def test_what_the_patient_owes_waits_for_a_payer_it_was_forwarded_to():
    [explanation] = decided("CAS*PR*2*20", "NM1*TT*2*HARBOR HEALTH PLAN*****PI*HARBOR", code="19")
    assert explanation.todo.startswith("Nothing yet")


OTHER_PLAN = {"F11D_OtherPlan": True, "F09D_OtherPlanName": "HARBOR"}
MOA_QUALIFIED, MOA_UNPROCESSABLE = "MOA***N782", "MOA***MA130"


@pytest.mark.safe_default(15)
def test_an_adjustment_names_the_act_that_it_asks_for():
    owed = "CAS*PR*2*20"
    for rest, more, act, words in (
        ([owed], {}, "bill_patient", "Bill the patient for this amount."),
        # Not to the patient: a further payer, forwarded, Medicaid, a qualified Medicare beneficiary.
        ([owed], {"claim": claim(**OTHER_PLAN)}, "bill_next_payer", "to the next payer"),
        ([owed, "NM1*TT*2*HARBOR*****PI*HB"], {"code": "1"}, "wait", "Nothing yet"),
        ([owed], {"code": "19"}, "wait", "Nothing yet"),
        ([owed], {"claim": claim(F01_ClaimType="MC")}, "ask_payer", "Do not bill the patient"),
        ([owed, MOA_QUALIFIED], {}, "bill_next_payer", "Do not bill the patient"),
        ([*LINE, owed, "REF*6R*C1-1", "LQ*HE*N781"], {}, "bill_next_payer", "Do not bill the"),
        (["CAS*PR*204*20"], {}, "bill_patient", "Bill the patient"),
        (["CAS*PR*204*20", MOA_QUALIFIED], {}, "bill_next_payer", "Do not bill the patient"),
        (["CAS*CO*204*20"], {}, "appeal", "A correction does not answer this"),
        (["CAS*CO*16*20"], {}, "correct", "replacement (frequency 7"),
        (["CAS*CO*16*20", MOA_UNPROCESSABLE], {"amount": "0"}, "new_claim", "nothing to appeal or replace"),
        (["CAS*CO*50*20", MOA_UNPROCESSABLE], {"amount": "0"}, "new_claim", "send a new claim"),
        # Partly paid, it goes as a replacement: a new claim would bill what was paid once more.
        (["CAS*CO*16*20", MOA_UNPROCESSABLE], {}, "correct", "send a replacement (frequency 7)"),
        (["CAS*CO*50*20", MOA_UNPROCESSABLE], {}, "correct", "nothing to appeal"),
        (["CAS*CO*22*20"], {}, "check_payer_order", "Check the order of payers"),
        (["CAS*OA*18*20"], {}, "find_first_claim", "Do not send it a third time"),
        (["CAS*CO*29*20"], {}, "appeal", "sent in time"),
        (["CAS*CO*50*20"], {}, "appeal", "records that show the need"),
        (["CAS*CO*45*20"], {}, "write_off", "Write off"),
    ):  # fmt: skip
        [explanation] = decided(*rest, **more)
        assert getattr(explanation, "act", "") == act, (rest, more)
        assert words in explanation.todo, (rest, more)
        if act != "bill_patient":
            assert not explanation.todo.startswith("Bill the patient"), rest


@pytest.mark.safe_default(15)
def test_no_line_advises_a_replacement_of_what_goes_as_a_new_claim():
    """One line has the remark, and the claim as a whole is sent anew."""
    lines = (
        "SVC*HC:99213*40*0**1",
        "CAS*CO*4*40",
        "SVC*HC:99214*60*0**1",
        "CAS*CO*16*60",
        "LQ*HE*MA130",
    )
    assert [one.act for one in decided(*lines, amount="0")] == ["new_claim", "new_claim"]
    assert [one.act for one in decided(*lines, amount="80")] == ["correct", "correct"]


@pytest.mark.safe_default(15)
def test_a_status_names_the_act_that_it_asks_for():
    for code, category, act in (
        ("562", "A7", "correct"), ("54", "A7", "find_first_claim"), ("78", "A3", "wait"),
        ("718", "A7", "appeal"), ("116", "A3", "bill_other_payer"), ("96", "A7", "enroll"),
        ("684", "A3", "ask_operator"), ("21", "A4", "ask_payer"), ("21", "E1", "ask_payer"), ("21", "R4", "send_records"),
        ("21", "P1", "wait"), ("21", "Z9", "ask_payer"),
    ):  # fmt: skip
        assert getattr(stated(code, SELF, category=category), "act", "") == act, code


@pytest.mark.safe_default(14)
def test_reasons_that_a_correction_does_not_answer_are_fixed_in_no_group():
    """Duplicate, not covered, not medically necessary, filing limit: fields are named, and none of them is wrong."""
    for reason in ("18", "29", "49", "50", "96", "167", "204", "B13"):
        [explanation] = decided(*LINE, f"CAS*CO*{reason}*20", "REF*6R*C1-1")
        assert getattr(explanation, "is_group_fixable", True) is False, reason
    for code in ("54", "78", "718", "88"):
        assert getattr(stated(code, SELF), "is_group_fixable", True) is False, code
    # An answer that names no field has only the charge that it reduces.
    [nameless] = decided(*LINE, "CAS*CO*16*20", "REF*6R*C1-1")
    [named] = decided(*LINE, "CAS*CO*16*20", "REF*6R*C1-1", "LQ*HE*N290")
    assert (nameless.is_group_fixable, named.is_group_fixable) == (False, True)
    assert stated("562", SELF, entity="85").is_group_fixable


def test_unknown_codes_are_reported_as_they_are():
    [explanation] = decided(*LINE, "CAS*XX*ZZZ*20", "LQ*HE*QQQ")
    assert "Reason ZZZ" in explanation.happened
    assert explanation.todo == "Ask the payer."


def test_dental_adjustments_name_dental_fields():
    [explanation] = decided("SVC*AD:D0120*100*80**1", "CAS*CO*45*20", "REF*6R*C1-1", claim=DENTAL)
    assert paths(explanation) == ["LineItems[0].F31_LineFee"]


# The tables.


def places():
    for table in (code_advice.STATUS_PLACES, code_advice.REASON_PLACES, code_advice.REMARK_PLACES):
        for code, found in table.items():
            for place in found:
                yield code, place


def test_every_place_of_the_advice_is_reported_by_some_field():
    lost = set()
    for _, place in places():
        loops = sorted(set(code_advice.ENTITY_LOOPS.values())) if "{e}" in place else [""]
        known = [
            fields_at(kind, [place.format(e=loop, line=kind.line_segment)])
            for kind in FORMS.values()
            for loop in loops
        ]
        if not any(known):
            lost.add(place)
    # The order of payment is generated; a diagnosis segment is named as a whole.
    assert lost <= {"2000B/SBR/01"}


def test_every_code_of_the_advice_is_a_code_of_its_list():
    assert code_advice.STATUS_PLACES.keys() | code_advice.STATUS_ADVICE.keys() <= set(
        codes.load("statuses")
    )
    assert code_advice.REASON_PLACES.keys() | code_advice.REASON_ADVICE.keys() <= set(
        codes.load("carc")
    )
    remarks = {code_advice.UNPROCESSABLE, *code_advice.NOT_THE_PATIENTS}
    assert code_advice.REMARK_PLACES.keys() | remarks <= set(codes.load("rarc"))
    assert code_advice.GROUP_ADVICE.keys() == set(codes.load("adjustment_groups"))
    assert code_advice.CATEGORY_ADVICE.keys() <= set(codes.load("status_categories"))
    assert code_advice.ENTITY_LOOPS.keys() | code_advice.CLEARINGHOUSE_ENTITIES <= set(
        codes.load("entities")
    )


@pytest.mark.parametrize("kind", FORMS.values())
def test_every_placed_field_can_be_named_from_its_place(kind):
    schema = kind
    for scope in kind.placements.loops:
        for name, place in scope.field_places():
            where = re.sub(r"#\d+", "", place).replace("/period", "/03")
            nth = int((re.findall(r"#(\d+)", place) or ["0"])[0])
            explanation = fields_at(kind, [where], missing=True, nth=nth)
            found = [re.sub(r"\[\d*\]", "[]", field.path) for field in explanation]
            wanted = re.sub(r"\[\d*\]", "[]", name)
            known = {
                one.removeprefix(f"{schema.lines_field}[].").removesuffix("[]") for one in found
            } | set(found)
            assert known & {wanted, f"{schema.lines_field}[].{wanted}"}, (name, place, found)


@pytest.mark.parametrize("kind", FORMS.values())
def test_every_field_that_is_named_has_a_label(kind):
    for scope in kind.placements.loops:
        for _, place in scope.field_places():
            for field in fields_at(kind, [re.sub(r"#\d+", "", place).replace("/period", "/03")]):
                assert field.label
    assert nested_parts(kind.claim) is not None
    assert fields_of(kind.claim)


def test_explanations_hold_no_value_of_the_claim():
    for code in code_advice.STATUS_PLACES:
        for entity in ("85", "IL", "QC", ""):
            explanation = stated(code, FULL, entity=entity)
            for value in (
                FULL.F01A_InsuredId,
                FULL.F02_PatientNameLast,
                FULL.F26_PatientAcctNumber,
            ):
                assert not re.search(rf"\b{re.escape(str(value))}\b", explanation.happened)


def test_a_277ca_of_a_real_file_is_reported_to_its_end():
    out = outgoing("C1", SELF)
    answer = status(
        patient(
            "C1",
            "A7:562:85*20261102*U*100",
            extra=["SVC*HC:99213*100", "STC*A7:476**U", "REF*FJ*C1-1"],
        )
    )
    [message] = acks.read(answer)
    explanation = list(provenance.explain_complaints(message.fact, SELF, controls(out)))
    assert [paths(one)[0] for one in explanation] == [
        "F33A_BillingProviderNpi",
        "F24_ClaimLines[0].F24G_DaysOrUnits",
    ]
