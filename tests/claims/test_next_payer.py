"""Secondary claims written from what the sandbox's payers decide: clean by three readers, and the chain adds up.

Also tests `pipeline/secondary/payer_decision`.
"""

import dataclasses
from decimal import Decimal

import pytest
from msgspec.structs import replace
from x12sdk.io import X12ModelReader

from clearlane.claims.forms import UB04, V3_DENTAL, V3_MEDICAL, form_of
from clearlane.claims.forms.samples import minimal_claim
from clearlane.claims.kinds import ClaimKind
from clearlane.claims.write.next_payer import (
    NEEDED,
    NextInsurance,
    insurance_of,
    next_payer_at,
    next_payers_claim,
    open_questions,
)
from clearlane.claims.x12_claim import X12Claim
from clearlane.kernel.finding import Severity
from clearlane.kernel.formats import to_cents
from clearlane.payments.match_lines import SentLine, number_lines
from clearlane.payments.payment import ClaimPayment
from clearlane.payments.read_payment import claim_payment_of_view
from clearlane.pipeline.secondary.payer_decision import decision_of, forwarded_to, obstacles
from clearlane.sandbox.model import Profile
from clearlane.x12.checker.check import check
from clearlane.x12.reader.reader import parse
from clearlane.x12.tree import Loop
from clearlane.x12.views.remittance import view_remittance
from tests.claims.file_claims import claims_in
from tests.claims.outgoing import (
    DAY,
    MOMENT,
    dental,
    medical,
    outgoing,
    refusals,
    root_of,
    stored,
    written,
)
from tests.claims.test_cob_files import CHILD, DENTAL_CHILD, DENTAL_OTHER, OTHER
from tests.sandbox.invented import Stage, kind


def two_lines(form, codes=("20610", "71046"), charges=(200, 100)) -> dict:
    """A total and two lines of these services."""
    line = minimal_claim(form, DAY)[form.lines_field][0]
    code, charge, total = (
        form.name_of(at) for at in ("lines[].procedure", "lines[].charge", "total_charge")
    )
    lines = [line | {code: one, charge: amount} for one, amount in zip(codes, charges, strict=True)]
    return {total: sum(charges), form.lines_field: lines}


SELF = {"F09_PatientRelationshipToInsured": "Self", "X12_OtherInsuredId": "M77"}
HARBOR = NextInsurance(payer_id="HARB1", payer_name="Harbor Health Plan")


class Payer:
    """A payer of the sandbox that is sent one claim, and pays it."""

    def __init__(self, payer_id: str) -> None:
        profile = Profile(payer_id, "Payer", frozenset({payer_id, "MEADOW", "MM001"}))
        self.payer_id = payer_id
        self.stage = Stage(profile, now=MOMENT)

    async def decide(self, claim, number=1, **more) -> tuple[X12Claim, ClaimPayment]:
        """Return the claim as it was sent, and what the payer paid, its lines matched as they are when it is posted."""
        out = dataclasses.replace(outgoing(claim, number, **more), payer_id=self.payer_id)
        data = written([out])
        await self.stage.payer.receive("one.837", data, self.stage.now)
        left = await self.stage.days(30)
        assert kind(left, "835"), left
        (content,) = kind(left, "835")
        (sent,) = claims_in(data)
        (paid,) = [one for set in parse(content).sets() for one in view_remittance(set).claims]
        view = form_of(sent).view(sent)
        lines = [
            SentLine(line.control_number or "", line.procedure, to_cents(line.charge) or 0)
            for line in view.lines
        ]
        found = claim_payment_of_view(paid)
        return sent, replace(found, lines=number_lines(found.lines, lines))


def next_claim(claim, sent, paid, insurance=HARBOR, number=1, **more) -> X12Claim:
    """The claim for the next payer, made as the pipeline makes it."""
    view = form_of(sent).view(sent)
    known = insurance_of(form_of(claim).view(claim)).with_answers(insurance)
    assert obstacles(paid, view) == ()
    assert open_questions(known, form_of(sent).kind) == ()
    return next_payers_claim(
        sent,
        known,
        decision_of(paid, MOMENT.date()),
        replaces=next_payer_at(view),
        number=f"C{number:018}",
        vendor_claim_id="V1",
        **more,
    )


def clean_claims(claims: list[X12Claim], caplog) -> list[Loop]:
    """Return the loops of claims in a file that our checker, pyx12 and x12sdk find clean.

    x12sdk forgets the first of two decisions about a line, so that it counts too few segments: it reads none with two.
    """
    outs = [
        dataclasses.replace(outgoing(one, 100 + at), payer_id="HARB1")
        for at, one in enumerate(claims)
    ]
    data = written(outs)
    found = [f for f in check(data).findings if f.severity is not Severity.INFO]
    assert [(f.rule, f.message, f.position) for f in found] == []
    if claims[0].transaction != "837D":  # neither knows dental claims
        assert refusals(data, caplog) == []
    loops = [*root_of(data).descendants("2300")]
    lines = [line for loop in loops for line in loop.descendants("2400")]
    if claims[0].transaction == "837P" and all(len([*one.loops("2430")]) == 1 for one in lines):
        with X12ModelReader(data.decode()) as reader:
            assert len(list(reader.models())) == 1
    return loops


def decided_lines(claim: Loop) -> list[list[str]]:
    """What a claim says of the last earlier payer's decision: of each line what was paid, adjusted and is still owed."""
    lines = [[*line.loops("2430")][-1] for line in claim.descendants("2400")]
    return [
        [
            line.value("SVD", 2),
            *("*".join(row[1:]) for row in line.segments("CAS")),
            line.value("AMT", 2, "EAF"),
        ]
        for line in lines
    ]


def explained(line: Loop) -> Decimal:
    """What an earlier payer paid and adjusted of a line."""
    amounts = [row[at] for row in line.segments("CAS") for at in range(3, len(row), 3)]
    return sum(map(Decimal, amounts), Decimal(line.value("SVD", 2)))


MEDICAL_SUMS = {
    "3001": [["200", "0"], ["100", "0"]],
    "3002": [["88", "CO*45*40", "PR*1*50**2*22", "72"], ["64", "CO*45*20", "PR*2*16", "16"]],
    "3003": [["0", "CO*50*200", "0"], ["0", "CO*50*100", "0"]],
    "3014": [["200", "0"], ["0", "CO*50*100", "0"]],
    "3025": [["0", "PR*1*200", "200"], ["0", "PR*1*100", "100"]],
    # The plan: 75.00 and 40.00 allowed; 100.00 deductible, then 20 % coinsurance.
    "W100": [["0", "CO*45*125", "PR*1*75", "75"], ["12", "CO*45*60", "PR*1*25**2*3", "28"]],
}
DENTAL_SUMS = {
    "3002": [["88", "CO*45*40", "PR*1*50**2*22", "72"], ["64", "CO*45*20", "PR*2*16", "16"]],
    "3014": [["200", "0"], ["0", "CO*50*100", "0"]],
    # The plan: 150.00 and 85.00 allowed; fillings after 50.00 deductible at 80 %, cleanings in full.
    "W100": [["80", "CO*45*50", "PR*1*50**2*20", "70"], ["85", "CO*45*15", "0"]],
}
PEOPLE = {
    V3_MEDICAL: (OTHER | {"X12_OtherInsuredId": "M77"}, CHILD, "F09_PatientRelationshipToInsured"),
    V3_DENTAL: (DENTAL_OTHER, DENTAL_CHILD, "F10_OtherPatientRelationship"),
}
SUMS = {V3_MEDICAL: MEDICAL_SUMS, V3_DENTAL: DENTAL_SUMS}
SERVICES = {V3_MEDICAL: ("20610", "71046"), V3_DENTAL: ("D2391", "D1110")}
MAKERS = {V3_MEDICAL: medical, V3_DENTAL: dental}


@pytest.mark.parametrize("form", SUMS)
async def test_secondary_claims_tell_what_the_first_payer_decided_and_are_clean(form, caplog):
    """Whoever is the insured of which payer: the patient of both, of one, or of neither."""
    other, child, relationship = PEOPLE[form]
    claims, wanted, patients = [], [], []
    for at, (member, sums) in enumerate(SUMS[form].items(), 1):
        is_child, is_insured = at % 2 == 1, at % 3 == 0
        own = other | two_lines(form, SERVICES[form]) | (child if is_child else {})
        own |= {relationship: "Self" if is_insured else "Child"}
        claim = MAKERS[form](**own, **{form.name_of("subscriber.member_id"): member})
        sent, paid = await Payer("MM001").decide(claim, at)
        assert sum(one.paid for one in paid.lines) == paid.paid
        claims.append(next_claim(claim, sent, paid, number=at))
        wanted.append(sums)
        patients.append(form_of(sent).view(sent).patient_birth)
    loops = clean_claims(claims, caplog)
    assert [decided_lines(one) for one in loops] == wanted
    for claim, loop, born in zip(claims, loops, patients, strict=True):
        assert [explained(line.loop("2430")) for line in loop.descendants("2400")] == [200, 100]
        view = form_of(claim).view(claim)
        assert view.vendor_claim_id == "V1"
        assert [one.id for one in view.payers] == ["MM001", "HARB1"]
        assert view.patient_birth == born
        assert view.decision is not None
        assert view.decision.paid == sum(Decimal(line[0]) for line in decided_lines(loop))


async def test_a_bill_of_a_facility_keeps_its_type_and_names_the_revenue_code_of_each_decision(
    caplog,
):
    claim = stored(UB04, minimal_claim(UB04, DAY) | {"FL04_TypeOfBill": "133"})
    sent, paid = await Payer("MM001").decide(claim)
    person = NextInsurance(
        payer_id="HARB1", payer_name="Harbor", member_id="3001", relationship="18",
        last_name="Lund", first_name="Ivo", coverage="MA", medicare_reason="12",
    )  # fmt: skip
    secondary = next_claim(claim, sent, paid, person)
    (loop,) = clean_claims([secondary], caplog)
    lines = [*loop.descendants("2400")]
    assert (loop.value("CLM", 5), len(lines) > 0) == ("13:A:3", True)
    # Why Medicare comes second is a value code of the bill: an 837I has no SBR05, so nobody is asked for it.
    assert secondary.parts[1].segments[1][1:6] == ["S", "18", "", "", ""]
    assert not open_questions(replace(person, medicare_reason=""), ClaimKind.INSTITUTIONAL)
    for line in lines:
        assert line.loop("2430").value("SVD", 4) == line.value("SV2", 1)


@pytest.mark.parametrize("form", SUMS)
async def test_three_payers_pay_a_claim_and_the_chain_adds_up_to_its_charge(form, caplog):
    """The first pays by its terms, the second leaves a part, the third pays the rest."""
    other, _, relationship = PEOPLE[form]
    own = other | two_lines(form, SERVICES[form]) | {relationship: "Self"}
    names = ("subscriber.member_id", "prior_authorization")
    own |= dict(zip(map(form.name_of, names), ("3002", "A-1"), strict=True))
    claim = MAKERS[form](**own)
    sent, first = await Payer("MM001").decide(claim)
    secondary = next_claim(claim, sent, first, NextInsurance(payer_id="HARB1", member_id="3002"))
    resent, second = await Payer("HARB1").decide(secondary, 2)
    assert obstacles(second, form_of(resent).view(resent)) == ()
    third_insurance = NextInsurance(
        payer_id="TST09", payer_name="Third", member_id="3001", relationship="18", last_name="Lund", first_name="Ivo",
        coverage="MB",
    )  # fmt: skip
    assert [one.field for one in open_questions(third_insurance, ClaimKind.MEDICAL)] == [
        "medicare_reason"
    ]
    third_insurance = third_insurance.with_answers(NextInsurance(medicare_reason="12"))
    tertiary = next_claim(secondary, resent, second, third_insurance, 2)
    (loop,) = clean_claims([tertiary], caplog)
    assert [one.value("SBR", 1) for one in loop.loops("2320")] == ["P", "S"]
    assert [len([*line.loops("2430")]) for line in loop.descendants("2400")] == [2, 2]
    assert loop.segment("REF", "G1") is None
    assert next(loop.descendants("2330B")).value("REF", 2, "G1") == "A-1"
    _, third = await Payer("TST09").decide(tertiary, 3)
    # 152.00, 60.00 written off, 88.00 owed; of that 16.32, 17.60 written off, 54.08 owed, which the last one pays.
    assert (first.paid, first.contractual, first.patient) == (15200, 6000, 8800)
    assert (second.paid, second.contractual, second.patient) == (1632, 1760, 5408)
    assert (third.paid, third.contractual, third.patient) == (5408, 0, 0)
    paid = first.paid + second.paid + third.paid
    assert paid + first.contractual + second.contractual + third.patient == first.charge


async def test_what_must_be_looked_at_first_stands_in_the_way_of_a_secondary_claim():
    """No draft is made of a decision that is taken back, does not balance, or was forwarded by the payer itself."""
    own = OTHER | two_lines(V3_MEDICAL)
    sent, paid = await Payer("MM001").decide(medical(**own, F01A_InsuredId="3011"))
    assert forwarded_to(paid) == "HARBOR HEALTH PLAN"
    assert forwarded_to(replace(paid, forwarded_to="", status_code="1", remarks=())) == ""
    view = form_of(sent).view(sent)
    assert obstacles(paid, view) == ()
    unlike = (
        replace(paid, in_force=False),
        replace(paid, status_code="25"),
        replace(paid, balanced=False),
        replace(paid, unreadable=("CLP04",)),
        replace(paid, charge=paid.charge + 1),
        replace(paid, lines=paid.lines[:1]),
    )
    assert [len(obstacles(one, view)) for one in unlike] == [1] * len(unlike)
    claim = medical(**own)
    known = insurance_of(form_of(claim).view(claim))
    assert [one.field for one in open_questions(known, ClaimKind.MEDICAL)] == [
        "payer_id",
        "member_id",
    ]
    assert [one.field for one in open_questions(NextInsurance(), ClaimKind.MEDICAL)] == [*NEEDED]
