"""What each view contains of a file that people can check by eye.

Also tests `x12/views/streaming`, `x12/views/binding`, `x12/views/original` and `x12/views/shared_types`.
"""

from datetime import date
from decimal import Decimal

import msgspec
import pytest

from clearlane.kernel import limits
from clearlane.x12 import guides, views
from clearlane.x12.automaton import LoopPlan, compile_guide
from clearlane.x12.reader import reader
from clearlane.x12.views import binding, remittance, streaming
from clearlane.x12.views.binding import SEGMENTS_PER_FIELD_MAX, View

FUNCTIONS = {kind: guides.by_kind(kind) for kind in guides.KINDS}


def file(kind, *rows):
    """One set in an interchange."""
    guide = FUNCTIONS[kind]
    version = "" if kind == "835" else f"*{guide.id}"
    head = [
        "ISA*00*          *00*          *ZZ*SENDER         *ZZ*RECEIVER       *240501*1200*^*00501*000000017*0*T*:",
        f"GS*{guide.functional_id}*SENDER*RECEIVER*20240501*1200*17*X*{guide.id}",
        f"ST*{guide.transaction}*0001{version}",
    ]
    tail = [f"SE*{len(rows) + 2}*0001", "GE*1*17", "IEA*1*000000017"]
    return "".join(row + "~" for row in [*head, *rows, *tail]).encode()


def view(kind, *rows):
    (interchange,) = views.read_views(file(kind, *rows))
    (one,) = interchange.sets
    assert one.kind == kind
    return one.view


REMITTANCE = (
    "BPR*I*190*C*ACH*CCP*01*021000021*DA*123*1512345678**01*021000021*DA*456*20240501",
    "TRN*1*CHECK17*1512345678",
    "DTM*405*20240430",
    "N1*PR*MEADOW MUTUAL",
    "N3*PO BOX 1200*SUITE 3",
    "N4*AUSTIN*TX*787010042",
    "PER*BL*SERVICE DESK*TE*8005550100*EX*17",
    "N1*PE*FERNHILL FAMILY PRACTICE*XX*1234567893",
    "LX*1",
    "TS3*1234567893*11*20241231*2*350",
    "CLP*A1*1*200*150*30*12*P1*11*1",
    "CAS*OA*18*0",
    "NM1*QC*1*ARDEN*ROSA****MI*M1",
    "NM1*74*1*ARDENN",
    "MOA***MA01*N19",
    "DTM*232*20240401",
    "AMT*AU*180",
    "QTY*CA*2",
    "PER*CX**TE*8005550101",
    "SVC*HC:99213:25:59*200*150**1*HC:99214*2",
    "DTM*472*20240401",
    "CAS*CO*45*20**16*0*1",
    "CAS*PR*2*30",
    "REF*6R*L1",
    "REF*1S*X",
    "AMT*B6*180",
    "LQ*HE*M15",
    "CLP*A2*22*-150*-40*0*12*P2",
    "CAS*CO*45*-110",
    "NM1*QC*1*ARDEN*MILO",
    "PLB*1234567893*20241231*WO:P2*-40*L6*-40",
)


def test_a_remittance_names_payer_payee_payment_and_claims():
    found = view("835", *REMITTANCE)
    assert found.payment.amount == Decimal(190)
    assert found.payment.day == date(2024, 5, 1)
    assert found.payment.method_words
    assert found.trace.number == "CHECK17"
    assert found.payer.street == ("PO BOX 1200", "SUITE 3")
    assert (found.payer.city, found.payer.state, found.payer.zip) == ("AUSTIN", "TX", "787010042")
    (contact,) = found.payer.contacts
    assert [(one.kind, one.number) for one in contact.numbers] == [
        ("TE", "8005550100"),
        ("EX", "17"),
    ]
    assert found.payee.id == "1234567893"
    (group,) = found.groups
    assert (group.claims_stated, group.charged_stated) == (2, 350)
    claim, reversal = found.claims
    assert not claim.is_reversal
    assert reversal.is_reversal
    assert claim.status_words
    assert claim.patient.first == "ROSA"
    assert claim.corrected.name == "ARDENN"
    assert [remark.code for remark in claim.outpatient.remarks] == ["MA01", "N19"]
    assert claim.outpatient.remarks[0].code_words
    (line,) = claim.lines
    assert line.procedure.modifiers == ("25", "59")
    assert line.procedure_charged.code == "99214"
    assert line.control == "L1"
    assert [one.reason for one in line.adjustments] == ["45", "16", "2"]
    assert line.adjustments[1].quantity == 1
    assert line.remarks[0].code_words
    assert [one.reason for one in claim.all_adjustments] == ["18", "45", "16", "2"]


def test_a_remittance_balances_at_line_claim_and_check_level():
    found = view("835", *REMITTANCE)
    claim, reversal = found.claims
    assert (claim.lines[0].balance, claim.balance, reversal.balance) == (0, 0, 0)
    assert found.totals == remittance.RemittanceTotalsView(
        claims=2, charged=Decimal(50), paid=Decimal(110), patient_share=Decimal(30),
        provider_adjusted=Decimal(-80), unbalanced_claims=0, balance=Decimal(0),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "line", "claim", "check"),
    [
        ("CAS*PR*2*30", "CAS*PR*2*31", -1, -1, 0),
        ("CLP*A1*1*200*150", "CLP*A1*1*200*149", 0, 1, 1),
        ("SVC*HC:99213:25:59*200*150", "SVC*HC:99213:25:59*200*151", -1, 0, 0),
        ("BPR*I*190", "BPR*I*191", 0, 0, 1),
        ("CLP*A1*1*200*150", "CLP*A1*1*200*X", 0, None, None),
        ("SVC*HC:99213:25:59*200", "SVC*HC:99213:25:59*X", None, 0, 0),
        ("CAS*PR*2*30", "CAS*PR*2*X", None, None, 0),
        ("L6*-40", "L6*X", 0, 0, None),
    ],
)
def test_what_does_not_balance_is_reported_at_its_level(old, new, line, claim, check):
    rows = [row.replace(old, new) for row in REMITTANCE]
    found = view("835", *rows)
    first = next(found.claims)
    assert first.lines[0].balance == line
    assert first.balance == claim
    assert found.totals.balance == check
    assert found.totals.unbalanced_claims == bool(line or claim)


def test_a_remittance_without_a_payment_has_no_balance():
    found = view("835", *REMITTANCE[1:])
    assert found.payment is None
    assert found.totals.balance is None


def test_what_comes_twice_or_cannot_be_read_is_kept():
    rows = (
        *REMITTANCE[:3],
        "DTM*405*2024",
        "DTM*405",
        "DTM",
        "BPR*I*1",
        *REMITTANCE[3:9],
        "N1*PR*OTHER",
        "CLP*A1*1*200*150",
        "CAS",
        "CAS*CO",
        "CAS*CO*45",
        "CAS*CO*45*5**",
        "CAS*CO*45*5*X",
        "CAS*CO****16*5",
        "NM1*QC*1*ARDEN*ROSA*****",
        "NM1*QC*1*ARDEN*ROSA*****M1*******MORE",
        "REF*1L*A*B*2U:C*TOO MUCH",
        "REF*1L*A*B*2U:C",
        "PER*CX*A*TE*1*TE*2*TE*3*X",
        "AMT*AU*ONE",
        "SVC*HC:1:2:3:4:5:6:7:8:9*1*2",
        "SVC*HC*1*2",
        "PLB*1*20241231",
        "PLB*1*BAD*WO:X*1*",
        "PLB*1*20241231*WO:X*1*WO",
        "PLB",
    )
    found = view("835", *rows)
    (claim,) = found.claims
    assert {tuple(row) for row in found.other} >= {("DTM", "405", "2024"), ("DTM", "405"), ("DTM",)}
    kept = [row[0] for row in claim.other]
    assert kept.count("CAS") == 4
    assert kept.count("NM1") == 1
    assert kept.count("REF") == 1
    assert [one.amount for one in claim.adjustments] == [None, 5, 5, 5]
    assert claim.references[1].further == ("2U", "C")
    assert claim.lines[0].procedure is None
    assert claim.lines[0].other
    assert claim.lines[1].procedure.code == ""
    assert [row for row in found.other if row[0] == "PLB"] == [
        ["PLB", "1", "20241231"], ["PLB", "1", "BAD", "WO:X", "1", ""],
        ["PLB", "1", "20241231", "WO:X", "1", "WO"], ["PLB"],
    ]  # fmt: skip
    assert [one.amount for one in found.provider_adjustments] == [1, 1, None]


def test_dates_that_are_no_days_are_kept_as_texts():
    odd = (
        "DTP*291",
        "DTP*291*D8*20241301",
        "DTP*291*RD8*20240101-X",
        "DTP",
        "DTP*291*D8*20240101*X",
    )
    rows = [*BENEFITS[:18], *odd, "EB*ZZ**QQQ^WWW"]
    (member,) = view("271", *rows).members
    reported = [(one.qualifier, one.form, one.text) for one in member.dates]
    assert reported == [
        ("291", "", ""), ("291", "D8", "20241301"), ("291", "RD8", "20240101-X"), ("", "", ""),
        ("291", "", ""),
    ]  # fmt: skip
    assert member.other == (["DTP", "291"], ["DTP"], ["DTP", "291", "D8", "20240101", "X"])
    assert (member.benefits[0].benefit, member.benefits[0].benefit_words) == ("ZZ", "")


def test_a_line_has_the_first_control_number_and_keeps_the_others():
    rows = [row.replace("REF*6R*L1", "REF*6R*L1~REF*6R*L2~REF*6R*L3*X") for row in REMITTANCE]
    rows = [row.replace("MOA***MA01*N19", "MOA***MA01*N19*****1*9*TOO MUCH") for row in rows]
    claim = next(view("835", *rows).claims)
    assert claim.lines[0].control == "L1"
    assert len(claim.lines[0].references) == 4
    assert [row[0] for row in claim.other] == ["MOA"]


def test_a_stream_of_remittances_passes_over_other_sets():
    assert not list(remittance.stream_remittances(file("837P", *CLAIMS)))


def test_a_field_holds_so_many_segments_and_the_rest_is_kept():
    many = [f"DTM*232*202401{at % 28 + 1:02}" for at in range(SEGMENTS_PER_FIELD_MAX + 2)]
    notes = [f"REF*1L*{at}" for at in range(SEGMENTS_PER_FIELD_MAX + 3)]
    found = view("835", *REMITTANCE[:9], "CLP*A1*1*200*150", *many, *notes)
    (claim,) = found.claims
    assert len(claim.dates) == len(claim.references) == SEGMENTS_PER_FIELD_MAX
    assert [row[0] for row in claim.other] == ["DTM", "DTM", "REF", "REF", "REF"]


BENEFITS = (
    "BHT*0022*11*17*20240501*1200",
    "HL*1**20*1",
    "AAA*Y**42*R",
    "NM1*PR*2*MEADOW MUTUAL*****PI*MM001",
    "PER*IC**TE*8005550100",
    "AAA*N**80*N",
    "HL*2*1*21*1",
    "NM1*1P*2*FERNHILL FAMILY PRACTICE*****XX*1234567893",
    "AAA*N**43*C",
    "HL*3*2*22*1",
    "TRN*2*T1*9CLEARLANE",
    "NM1*IL*1*ARDEN*ROSA****MI*M1",
    "REF*6P*GROUP",
    "N3*17 LARK STREET",
    "N4*MADISON*WI*537031020",
    "DMG*D8*19800101*F",
    "INS*Y*18*001*25",
    "HI*ABK:E119*ABF:I10",
    "DTP*291*D8*20240501",
    "EB*1*IND*30^35*HM*GOLD PLAN",
    "HSD*VS*12***23*1",
    "DTP*292*RD8*20240101-20241231",
    "MSG*ONE",
    "MSG*TWO",
    "MSG*A*B",
    "III*ZZ*11",
    "LS*2120",
    "NM1*P3*1*FENN*OSKAR****XX*1679576722",
    "PRV*PE*PXC*207Q00000X",
    "LE*2120",
    "EB*A*IND*98***27**.2*****HC:99213*1:2",
    "AAA*N**70*C",
    "HL*4*3*23*0",
    "NM1*03*1*ARDEN*MILO",
    "DMG*D8*20150101*M",
    "INS*N*19",
    "EB*C*IND*30***23*500",
    "DTP*348*TM*1200",
)


def test_benefits_hold_source_receiver_subscriber_and_dependent():
    found = view("271", *BENEFITS)
    (source,) = found.sources
    (receiver,) = source.receivers
    (subscriber,) = receiver.subscribers
    (dependent,) = subscriber.dependents
    assert source.party.id == "MM001"
    assert source.party.contacts
    assert receiver.party.role_words
    assert subscriber.party.birth == date(1980, 1, 1)
    assert subscriber.party.city == "MADISON"
    assert subscriber.traces[0].number == "T1"
    assert subscriber.insured_status.relationship_words == "Self"
    assert [one.code for one in subscriber.diagnoses] == ["E119", "I10"]
    assert dependent.party.first == "MILO"
    assert dependent.insured_status.relationship == "19"
    assert dependent.benefits[0].amount == 500
    assert dependent.benefits[0].dates[0].text == "1200"
    assert list(found.members) == [subscriber, dependent]


def test_a_benefit_has_service_types_periods_messages_and_parties():
    benefit, share = next(view("271", *BENEFITS).members).benefits
    assert benefit.service_types == ("30", "35")
    assert benefit.service_types_words == ("Health benefit plan coverage", "Dental care")
    assert benefit.benefit_words == "Active coverage"
    assert benefit.deliveries[0].quantity == 12
    assert benefit.dates[0].end == date(2024, 12, 31)
    assert benefit.messages == ("ONE", "TWO", "A")
    assert benefit.other == (["MSG", "A", "B"],)
    assert benefit.conditions[0].code == "11"
    assert benefit.parties[0].specialty.code == "207Q00000X"
    assert (benefit.section_start, benefit.section_end) == ("2120", "2120")
    assert share.fraction == Decimal("0.2")
    assert share.procedure.code == "99213"
    assert share.pointers == ("1", "2")


def test_refusals_are_found_at_every_level():
    found = view("271", *BENEFITS)
    assert [one.reason for one in found.refusals] == ["42", "80", "43", "70"]
    assert all(one.reason_words for one in found.refusals)
    assert next(found.refusals).follow_up_words


def test_an_inquiry_names_what_is_requested():
    found = view(
        "270",
        "BHT*0022*13*17*20240501*1200",
        "HL*1**20*1",
        "NM1*PR*2*MEADOW MUTUAL*****PI*MM001",
        "HL*2*1*21*1",
        "NM1*1P*2*FERNHILL FAMILY PRACTICE*****XX*1234567893",
        "HL*3*2*22*0",
        "NM1*IL*1*ARDEN*ROSA****MI*M1",
        "EQ*30^35",
        "III*ZZ*11",
        "DTP*291*D8*20240501",
        "MSG",
    )
    (member,) = found.members
    (question,) = member.questions
    assert question.service_types == ("30", "35")
    assert question.conditions[0].code == "11"
    assert not list(found.refusals)


STATUS = (
    "BHT*0085*08*17*20240501*1200*TH",
    "HL*1**20*1",
    "NM1*AY*2*CLEARLANE*****46*CL1",
    "TRN*1*R1",
    "DTP*050*D8*20240501",
    "DTP*009*D8*20240502",
    "HL*2*1*21*1",
    "NM1*41*2*FERNHILL*****46*F1",
    "TRN*2*B1",
    "STC*A1:19:PR*20240501*WQ*300",
    "QTY*90*2",
    "AMT*YU*300",
    "HL*3*2*19*1",
    "NM1*85*2*FERNHILL*****XX*1234567893",
    "HL*4*3*PT",
    "NM1*QC*1*ARDEN*ROSA****MI*M1",
    "TRN*2*A1",
    "STC*A7:562:85*20240501*U*100******A7:21:40**SEE THE NPI",
    "REF*1K*P1",
    "DTP*472*D8*20240401",
    "SVC*HC:99213*100*****1",
    "STC*A7:454**U",
    "REF*FJ*L1",
)


def test_statuses_are_at_four_levels_with_words():
    found = view("277CA", *STATUS)
    (source,) = found.tiers
    (receiver,) = source.tiers
    (provider,) = receiver.tiers
    (patient,) = provider.tiers
    assert [one.level.code for one in (source, receiver, provider, patient)] == [
        "20",
        "21",
        "19",
        "PT",
    ]
    assert source.reports[0].dates[0].start == date(2024, 5, 1)
    whole = receiver.reports[0].statuses[0]
    assert whole.accepted
    assert whole.codes[0].category_words
    assert whole.codes[0].status_words
    assert whole.codes[0].entity_words == "Payer"
    assert receiver.reports[0].quantities[0].quantity == 2
    (claim,) = found.claims
    assert claim.trace.number == "A1"
    (reported,) = claim.statuses
    assert not reported.accepted
    assert [code.status for code in reported.codes] == ["562", "21"]
    assert reported.message == "SEE THE NPI"
    assert claim.lines[0].statuses[0].codes[0].status == "454"
    assert claim.lines[0].units == 1


def test_a_level_without_its_number_holds_no_claims_of_patients():
    tier = views.status.StatusLevelView(reports=(views.status.StatusReportView(),))
    assert not list(views.status.StatusSetView(tiers=(tier,)).claims)


VERDICTS = (
    "AK1*HC*17*005010X222A1",
    "AK2*837*0001*005010X222A1",
    "IK3*NM1*8*2010*8",
    "CTX*CLM01:A1",
    "CTX*SITUATIONAL TRIGGER^CLM01:A1*CLM*17*2300*5:3*98",
    "IK4*9:1*67*1*X",
    "CTX*A:B:C",
    "IK5*R*5*I5",
    "AK2*837*0002",
    "IK5*A",
    "AK9*P*2*2*1*5",
)


def test_verdicts_name_sets_segments_and_elements_in_words():
    found = view("999", *VERDICTS)
    refused, taken = found.sets
    assert not found.accepted
    assert found.verdict_words
    assert found.codes_words[0]
    assert not refused.accepted
    assert taken.accepted
    assert refused.codes == ("5", "I5")
    assert all(refused.codes_words)
    (error,) = refused.errors
    assert error.error_words
    assert error.contexts[0].names[0].value == "A1"
    assert [one.name for one in error.contexts[1].names] == ["SITUATIONAL TRIGGER", "CLM01"]
    assert error.contexts[1].place.component == "3"
    (element,) = error.elements
    assert (element.place.element, element.place.component) == ("9", "1")
    assert element.error_words
    assert element.value == "X"
    assert element.other == (["CTX", "A:B:C"],)


CLAIMS = (
    "BHT*0019*00*17*20240501*1200*CH",
    "NM1*41*2*CLEARLANE*****46*CL0001",
    "PER*IC*SERVICE DESK*TE*2065550100",
    "NM1*40*2*MEADOW MUTUAL*****46*MM001",
    "HL*1**20*1",
    "PRV*BI*PXC*207Q00000X",
    "NM1*85*2*FERNHILL FAMILY PRACTICE*****XX*1234567893",
    "N3*12 FERN HILL ROAD",
    "N4*PORTLAND*OR*972011234",
    "REF*EI*911234567",
    "HL*2*1*22*1",
    "SBR*P*18*GRP******CI",
    "PAT*****D8*20240101*01*100*Y",
    "NM1*IL*1*ARDEN*ROSA****MI*M1",
    "DMG*D8*19800101*F",
    "NM1*PR*2*MEADOW MUTUAL*****PI*MM001",
    "CLM*A1*200***11:B:1*Y*A*Y*Y**AA::::US",
    "DTP*439*D8*20240401",
    "REF*D9*T1",
    "NTE*ADD*NOTE",
    "HI*ABK:E119*ABF:I10",
    "HI*BG:17",
    "NM1*82*1*FENN*OSKAR****XX*1679576722",
    "PRV*PE*PXC*207Q00000X",
    "SBR*S*18*******CI",
    "CAS*CO*45*20",
    "AMT*D*80",
    "OI***Y***Y",
    "NM1*IL*1*ARDEN*ROSA****MI*M2",
    "NM1*PR*2*HARBOR HEALTH PLAN*****PI*HH001",
    "LX*1",
    "SV1*HC:99213*200*UN*1***1:2**Y",
    "DTP*472*D8*20240401",
    "REF*6R*L1",
    "LIN**N4*12345678901",
    "CTP****2*UN",
    "SVD*HH001*80*HC:99213**1",
    "CAS*CO*45*120",
    "DTP*573*D8*20240420",
    "LX*2",
    "SV1*HC:99214*0*UN*1***1",
    "HL*3*2*23*0",
    "PAT*19*X",
    "NM1*QC*1*ARDEN*MILO",
    "DMG*D8*20150101*M",
    "CLM*A2*100***11:B:7",
    "HI*ABK:I10:D8:20240101:1:2:3:4:Y:TOO MUCH",
)


def test_claims_hold_billing_subscriber_patient_payer_and_lines():
    found = view("837P", *CLAIMS)
    first, second = found.claims_with_parties
    assert found.submitter.contacts
    assert first.billing.party.city == "PORTLAND"
    assert first.billing.specialty.role == "BI"
    assert first.subscriber.payer.id == "MM001"
    assert first.subscriber.died == date(2024, 1, 1)
    assert first.patient is None
    claim = first.claim
    assert claim.charge == 200
    assert claim.place.frequency_words
    assert claim.causes.first == "AA"
    assert [code.code for code in claim.diagnoses] == ["E119", "I10"]
    assert [code.code for code in claim.codes] == ["E119", "I10", "17"]
    assert claim.providers[0].specialty.code == "207Q00000X"
    (other,) = claim.other_payers
    assert other.payer.id == "HH001"
    assert other.subscriber.id == "M2"
    line, bare = claim.lines
    assert (line.control, bare.control) == ("L1", "")
    assert line.pointers == ("1", "2")
    assert line.drugs[0].quantity == 2
    assert line.decisions[0].adjustments[0].amount == 120
    assert second.patient.relationship_words == "Child"
    assert second.patient.other == (["PAT", "19", "X"],)
    assert second.claim.codes[0].present_on_admission == "Y"
    assert second.claim.other


def test_an_envelope_view_has_what_is_between_sets():
    data = file("835", *REMITTANCE).replace(b"~GS*", b"~TA1*000000001*240501*1200*A*000~ZZ*1~GS*")
    data = data.replace(b"GE*1*17", b"XX*Y~GE*1*17")
    (found,) = views.read_views(data)
    assert found.sender == "SENDER"
    assert found.answers[0].verdict_words == "Accepted"
    assert found.other == (["ZZ", "1"],)
    assert found.groups[0].other == (["XX", "Y"],)
    assert found.groups[0].sets_stated == "1"
    cut = data[: data.index(b"GE*")]
    (found,) = views.read_views(cut)
    assert found.trailer_control == found.groups[0].trailer_control == ""


def test_a_set_of_an_unknown_guide_keeps_its_segments():
    data = file("835", *REMITTANCE).replace(b"005010X221A1", b"004010X091")
    (found,) = views.read_views(data)
    (one,) = found.sets
    assert one.kind == ""
    assert len(one.view.other) == len(REMITTANCE)
    assert [piece.view for piece in views.stream_views(data)] == [one.view]
    assert not list(remittance.stream_remittances(data))


def test_a_stream_yields_parts_before_their_units_and_the_end_last():
    pieces = list(views.stream_views(file("837P", *CLAIMS)))
    reported = [type(p.part or p.unit or p.view).__name__ for p in pieces]
    assert reported == [
        "ClaimSetView", "BillingProviderView", "SubscriberView", "ClaimLoopView", "PatientView", "ClaimLoopView", "ClaimSetView",
    ]  # fmt: skip
    assert pieces[-1].view.end.segments


def test_a_part_without_units_or_with_more_after_them_comes_at_its_end():
    rows = [row for row in CLAIMS if not row.startswith("CLM")][:16]
    pieces = list(views.stream_views(file("837P", *rows)))
    assert [type(p.part or p.view).__name__ for p in pieces] == [
        "SubscriberView",
        "BillingProviderView",
        "ClaimSetView",
    ]
    late = [*REMITTANCE[:-1], "LX*1", "LX*2", "TS3*1*11*20241231*0*0"]
    reported = [p.part for p in views.stream_views(file("835", *late)) if p.part is not None]
    assert [getattr(part, "number", "") for part in reported] == ["", "1", "1", "2"]


def test_a_stream_ends_sets_without_their_trailer():
    whole = file("835", *REMITTANCE)
    cut = whole[: whole.index(b"SE*")]
    assert [p.view.totals.claims for p in views.stream_views(cut) if p.view] == [2]
    for after in (b"ST*835*0002~", b"GE*1*17~", b"IEA*1*000000017~", whole):
        reported = next(p.view for p in views.stream_views(cut + after) if p.view)
        assert reported.totals.claims == 2
    unknown = cut.replace(b"005010X221A1", b"004010X091")
    assert len([p for p in views.stream_views(unknown + b"GE*1*17~") if p.view]) == 1
    assert len([p for p in views.stream_views(unknown) if p.view]) == 1


def test_sets_outside_a_group_and_files_without_any_give_no_view():
    data = file("835", *REMITTANCE)
    bare = data[: data.index(b"GS*")] + data[data.index(b"ST*") :]
    assert not list(views.stream_views(bare))
    assert not list(views.stream_views(b"no file of the trade"))
    assert not list(views.stream_views(b""))


def test_a_chunking_of_any_size_gives_the_same_pieces():
    data = file("271", *BENEFITS)
    whole = list(views.stream_views(data))
    assert list(views.stream_views(data[at : at + 7] for at in range(0, len(data), 7))) == whole


def test_a_second_loop_where_one_is_expected_is_kept():
    rows = [*REMITTANCE[:7], "N1*PR*AGAIN", "N3*STREET", *REMITTANCE[7:]]
    whole = view("835", *rows)
    assert whole.other == (["N1", "PR", "AGAIN"], ["N3", "STREET"])
    streamed = [p.view for p in views.stream_views(file("835", *rows)) if p.view]
    assert streamed[0].other == whole.other


def test_too_many_segments_of_one_unit_are_refused(monkeypatch):
    monkeypatch.setattr(limits, "SEGMENTS_HELD_MAX", 50)
    many = file("835", *REMITTANCE[:9], "CLP*A1*1*1*1", *["ZZ*1"] * 200)
    chunks = [many[at : at + 100] for at in range(0, len(many), 100)]
    with pytest.raises(streaming.TooManySegmentsError, match="one unit"):
        list(views.stream_views(chunks))
    unknown = many.replace(b"005010X221A1", b"004010X091")
    with pytest.raises(streaming.TooManySegmentsError, match="without a guide"):
        list(views.stream_views(unknown))


def test_views_are_written_as_json_and_read_again():
    for kind, rows in (("835", REMITTANCE), ("271", BENEFITS), ("837P", CLAIMS), ("999", VERDICTS)):
        (found,) = views.read_views(file(kind, *rows))
        text = msgspec.json.encode(found)
        assert msgspec.json.decode(text, type=views.InterchangeView) == found


def test_a_value_prints_its_fields_and_not_what_they_hold():
    claim = next(view("835", *REMITTANCE).claims)
    assert "ARDEN" not in repr(claim)
    assert "A1" not in repr(claim)
    assert repr(claim.patient).startswith("PartyView(role, role_words, kind, name, first")
    assert repr(View()) == "View()"


@pytest.mark.parametrize("kind", [kind for kind in guides.KINDS if kind in views.BUILDERS])
def test_every_loop_around_units_has_a_field(kind):
    """A stream drops these loops from their parents, so a loop without a field would be lost."""

    def check(plan, builder):
        for child in plan.children:
            if isinstance(child, LoopPlan) and child.holds_unit:
                assert builder.loops[child.node.id].many
                check(child, builder.loops[child.node.id].builder)

    check(compile_guide(guides.by_kind(kind)).root, views.BUILDERS[kind])


def test_a_streamed_claim_is_the_same_as_one_from_the_tree():
    data = file("835", *REMITTANCE)
    set = next(reader.parse(data).sets())
    whole = remittance.view_remittance(set)
    assert [
        p
        for p in remittance.stream_remittances(data)
        if isinstance(p, remittance.RemittanceClaimView)
    ] == list(whole.claims)


def test_a_payee_has_its_delivery_and_a_second_one_is_kept_apart():
    at = REMITTANCE.index("LX*1")
    rows = (
        *REMITTANCE[:at],
        "RDM*OL*ERA PORTAL*REMITS.EXAMPLE",
        "N1*PE*LARKSPUR DENTAL*XX*1679576722",
        "N3*9 OAK STREET",
        "RDM*EM",
        *REMITTANCE[at:],
    )
    found = view("835", *rows)
    assert (found.payee.name, found.payee.id) == ("FERNHILL FAMILY PRACTICE", "1234567893")
    delivery = found.payee.delivery
    assert (delivery.method, delivery.name, delivery.address) == (
        "OL",
        "ERA PORTAL",
        "REMITS.EXAMPLE",
    )
    (second,) = found.further_payees
    assert (second.name, second.street, second.delivery.method) == (
        "LARKSPUR DENTAL",
        ("9 OAK STREET",),
        "EM",
    )
    assert not found.payee.other
    assert not found.other
    (streamed,) = [piece.view for piece in views.stream_views(file("835", *rows)) if piece.view]
    assert (streamed.payee, streamed.further_payees) == (found.payee, found.further_payees)
    assert view("835", *REMITTANCE).further_payees == ()


def test_fixed_format_texts_of_claims_and_lines_have_a_field():
    rows = list(CLAIMS)
    rows.insert(rows.index("NTE*ADD*NOTE"), "K3*STATE DATA REQUIREMENT")
    rows.insert(rows.index("REF*6R*L1") + 1, "K3*FIRST")
    rows.insert(rows.index("REF*6R*L1") + 2, "K3*SECOND*X")
    claim = next(iter(view("837P", *rows).claims_with_parties)).claim
    assert claim.fixed_format == ("STATE DATA REQUIREMENT",)
    assert claim.lines[0].fixed_format == ("FIRST", "SECOND")
    assert claim.lines[0].other == (["K3", "SECOND", "X"],)


def test_a_second_segment_of_a_place_that_is_filled_stays_among_the_others():
    class Filled(binding.View):
        """A view whose only place is taken."""

    handler = binding._fill_plain((), Filled, current=lambda _: "taken", defaults="free")
    other = []
    handler(["CLP", "1"], ["taken"], other)
    assert other == [["CLP", "1"]]
