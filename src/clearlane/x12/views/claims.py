"""An 837 (professional, dental, institutional) as claims.

Billing providers hold subscribers; subscribers hold their claims, and patients who hold theirs.
``Claims.filed`` walks them all with the people around each. Knows claim loops; knows no form.
"""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from clearlane.x12.tree import Segment
from clearlane.x12.views import shared_types
from clearlane.x12.views.binding import (
    KINDS,
    Below,
    Composite,
    Row,
    Sorter,
    Value,
    each,
    every,
    fill,
    into,
    once,
)


class Place(Value, frozen=True):
    """Where, in which kind of code, and which version of the claim this is."""

    code: str = ""
    qualifier: str = ""
    frequency: str = ""
    frequency_words: str = ""


class Causes(Value, frozen=True):
    """What an illness or injury is related to."""

    first: str = ""
    second: str = ""
    third: str = ""
    state: str = ""
    country: str = ""


class Code(Value, frozen=True):
    """One code of an HI: a diagnosis, a procedure, a condition, an occurrence, a value."""

    qualifier: str = ""
    code: str = ""
    form: str = ""
    when: str = ""
    """A day or a period, as the form says."""
    amount: Decimal | None = None
    quantity: Decimal | None = None
    version: str = ""
    range_end: str = ""
    present_on_admission: str = ""

    @property
    def is_diagnosis(self) -> bool:
        """Whether the list the code is from is one of diagnoses."""
        return self.qualifier in DIAGNOSES


class Attachment(Value, frozen=True):
    """PWK."""

    report: str = ""
    travels: str = ""
    qualifier: str = ""
    control: str = ""


class Contract(Value, frozen=True):
    """CN1."""

    kind: str = ""
    amount: Decimal | None = None
    percentage: Decimal | None = None
    code: str = ""
    discount: Decimal | None = None
    version: str = ""


class Condition(Value, frozen=True):
    """CRC."""

    category: str = ""
    applies: str = ""
    codes: tuple[str, ...] = ()


class Tooth(Value, frozen=True):
    """TOO or DN2: a tooth with its surfaces or its state."""

    code_list: str = ""
    number: str = ""
    surfaces: tuple[str, ...] = ()
    status: str = ""


class Admission(Value, frozen=True):
    """CL1."""

    kind: str = ""
    origin: str = ""
    status: str = ""


class Orthodontics(Value, frozen=True):
    """DN1."""

    months: Decimal | None = None
    months_left: Decimal | None = None
    treatment: str = ""


class Drug(Value, frozen=True):
    """LIN and CTP."""

    qualifier: str = ""
    code: str = ""
    quantity: Decimal | None = None
    unit: tuple[str, ...] = ()
    references: tuple[shared_types.Reference, ...] = ()
    other: tuple[list[str], ...] = ()


class LineDecision(Value, frozen=True):
    """SVD: what another payer said of the line."""

    payer: str = ""
    paid: Decimal | None = None
    procedure: shared_types.Procedure | None = None
    revenue: str = ""
    units: Decimal | None = None
    bundled_into: str = ""
    adjustments: tuple[shared_types.Adjustment, ...] = ()
    dates: tuple[shared_types.Dated, ...] = ()
    amounts: tuple[shared_types.Amount, ...] = ()
    other: tuple[list[str], ...] = ()


class Line(Value, frozen=True):
    """A service line."""

    number: str = ""
    procedure: shared_types.Procedure | None = None
    revenue: str = ""
    charge: Decimal | None = None
    unit: str = ""
    units: Decimal | None = None
    rate: Decimal | None = None
    non_covered: Decimal | None = None
    place: str = ""
    place_words: str = ""
    pointers: tuple[str, ...] = ()
    oral_areas: tuple[str, ...] = ()
    prosthesis: str = ""
    emergency: str = ""
    epsdt: str = ""
    family_planning: str = ""
    copay_exempt: str = ""
    teeth: tuple[Tooth, ...] = ()
    dates: tuple[shared_types.Dated, ...] = ()
    quantities: tuple[shared_types.Quantity, ...] = ()
    references: tuple[shared_types.Reference, ...] = ()
    amounts: tuple[shared_types.Amount, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    contract: Contract | None = None
    conditions: tuple[Condition, ...] = ()
    notes: tuple[shared_types.Note, ...] = ()
    drugs: tuple[Drug, ...] = ()
    providers: tuple[shared_types.Party, ...] = ()
    decisions: tuple[LineDecision, ...] = ()
    other: tuple[list[str], ...] = ()

    @property
    def control(self) -> str:
        """REF*6R, by which a payer names the line."""
        return next((ref.value for ref in self.references if ref.qualifier == "6R"), "")


class OtherPayer(Value, frozen=True):
    """2320: another coverage of the patient, and what that payer decided."""

    order: str = ""
    relationship: str = ""
    relationship_words: str = ""
    group_number: str = ""
    group_name: str = ""
    insurance: str = ""
    filing: str = ""
    filing_words: str = ""
    adjustments: tuple[shared_types.Adjustment, ...] = ()
    amounts: tuple[shared_types.Amount, ...] = ()
    assigned: str = ""
    signature: str = ""
    release: str = ""
    inpatient: shared_types.Decision | None = None
    outpatient: shared_types.Decision | None = None
    subscriber: shared_types.Party | None = None
    payer: shared_types.Party | None = None
    providers: tuple[shared_types.Party, ...] = ()
    other: tuple[list[str], ...] = ()


class Claim(Value, frozen=True):
    """A claim."""

    number: str = ""
    """CLM01, which comes back in the 277CA and the 835."""
    charge: Decimal | None = None
    place: Place | None = None
    signature: str = ""
    assignment: str = ""
    benefits_assigned: str = ""
    release: str = ""
    patient_signature: str = ""
    causes: Causes | None = None
    programme: str = ""
    submission_reason: str = ""
    delay: str = ""
    dates: tuple[shared_types.Dated, ...] = ()
    admission: Admission | None = None
    orthodontics: Orthodontics | None = None
    teeth: tuple[Tooth, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    contract: Contract | None = None
    amounts: tuple[shared_types.Amount, ...] = ()
    references: tuple[shared_types.Reference, ...] = ()
    notes: tuple[shared_types.Note, ...] = ()
    conditions: tuple[Condition, ...] = ()
    codes: tuple[Code, ...] = ()
    quantities: tuple[shared_types.Quantity, ...] = ()
    providers: tuple[shared_types.Party, ...] = ()
    other_payers: tuple[OtherPayer, ...] = ()
    lines: tuple[Line, ...] = ()
    other: tuple[list[str], ...] = ()

    @property
    def diagnoses(self) -> tuple[Code, ...]:
        """The diagnoses, the principal one first as in the file."""
        return tuple(code for code in self.codes if code.is_diagnosis)


class Patient(Value, frozen=True):
    """2000C: a patient who is not the subscriber."""

    level: shared_types.Level | None = None
    relationship: str = ""
    relationship_words: str = ""
    died: date | None = None
    weight_unit: str = ""
    weight: Decimal | None = None
    pregnant: str = ""
    party: shared_types.Party | None = None
    claims: tuple[Claim, ...] = ()
    other: tuple[list[str], ...] = ()


class Subscriber(Value, frozen=True):
    """2000B: the insured, the payer, and the claims."""

    level: shared_types.Level | None = None
    order: str = ""
    relationship: str = ""
    relationship_words: str = ""
    group_number: str = ""
    group_name: str = ""
    insurance: str = ""
    filing: str = ""
    filing_words: str = ""
    died: date | None = None
    weight_unit: str = ""
    weight: Decimal | None = None
    pregnant: str = ""
    party: shared_types.Party | None = None
    payer: shared_types.Party | None = None
    claims: tuple[Claim, ...] = ()
    patients: tuple[Patient, ...] = ()
    other: tuple[list[str], ...] = ()


class Billing(Value, frozen=True):
    """2000A: a billing provider with its subscribers."""

    level: shared_types.Level | None = None
    specialty: shared_types.Specialty | None = None
    party: shared_types.Party | None = None
    pay_to: shared_types.Party | None = None
    pay_to_plan: shared_types.Party | None = None
    subscribers: tuple[Subscriber, ...] = ()
    other: tuple[list[str], ...] = ()


class Filed(Value, frozen=True):
    """A claim with the people around it. ``patient`` is None where the subscriber is the patient."""

    billing: Billing
    subscriber: Subscriber
    patient: Patient | None
    claim: Claim


class Claims(Value, frozen=True, tag_field="view", tag="claims"):
    """All of an 837."""

    start: shared_types.Start | None = None
    heading: shared_types.Heading | None = None
    submitter: shared_types.Party | None = None
    receiver: shared_types.Party | None = None
    billing: tuple[Billing, ...] = ()
    end: shared_types.End | None = None
    other: tuple[list[str], ...] = ()

    @property
    def filed(self) -> Iterator[Filed]:
        """Every claim, in file order."""
        for billing in self.billing:
            for subscriber in billing.subscribers:
                for claim in subscriber.claims:
                    yield Filed(billing=billing, subscriber=subscriber, patient=None, claim=claim)
                for patient in subscriber.patients:
                    for claim in patient.claims:
                        yield Filed(
                            billing=billing, subscriber=subscriber, patient=patient, claim=claim
                        )


DIAGNOSES = frozenset({
    "ABF", "ABJ", "ABK", "ABN", "APR", "BF", "BJ", "BK", "BN", "PR", "TQ", "DR",
})  # fmt: skip
"""HI lists of diagnoses: principal, other, admitting, external cause, reason for the visit."""


def _codes(segment: Segment, other: list[Segment]) -> tuple[Code, ...]:
    """The codes of an HI; a claim may have several."""
    found = [_CODE.read(text) for text in segment[1:] if text]
    if not all(whole for _, whole in found):
        other.append(segment)
    return tuple(code for code, _ in found)


_CODE = Composite(
    Code, "qualifier code form when amount$ quantity$ version range_end present_on_admission"
)
KINDS |= {
    "place": Composite(Place, "code qualifier frequency?claim_frequencies"),
    "causes": Composite(Causes, "first second third state country"),
}
_PATIENT = "- - - -=d8 died! weight_unit weight$ pregnant"
_SBR = fill(
    "order relationship?relationships group_number group_name insurance - - - filing?claim_filing"
)
_CLM = fill(
    "number charge$ - - place=place signature assignment benefits_assigned release"
    " patient_signature causes=causes programme - - - - - - submission_reason delay"
)
_PROVIDERS = Below("providers", shared_types.PARTY)
_FACTS: dict[str, Row] = {
    "DTP": shared_types.DATES,
    "REF": shared_types.REFERENCES,
    "AMT": shared_types.AMOUNTS,
    "QTY": shared_types.QUANTITIES,
    "NTE": shared_types.NOTES,
    "PWK": each("attachments", into(Attachment, "report travels - - qualifier control")),
    "CN1": once("contract", into(Contract, "kind amount$ percentage$ code discount$ version")),
    "CRC": each(
        "conditions", into(Condition, "category applies codes+ codes+ codes+ codes+ codes+")
    ),
}
DRUG = Sorter(
    Drug,
    {
        "LIN": fill("- qualifier code"),
        "CTP": fill("- - - quantity$ unit=parts"),
        "REF": shared_types.REFERENCES,
    },
)
LINE_DECISION = Sorter(
    LineDecision,
    {
        "SVD": fill("payer paid$ procedure=procedure revenue units$ bundled_into"),
        "CAS": shared_types.ADJUSTMENTS,
        "DTP": shared_types.DATES,
        "AMT": shared_types.AMOUNTS,
    },
)
LINE = Sorter(
    Line,
    {
        **_FACTS,
        "LX": fill("number"),
        "SV1": fill(
            "procedure=procedure charge$ unit units$ place?places_of_service - pointers=parts -"
            " emergency - epsdt family_planning - - copay_exempt"
        ),
        "SV2": fill("revenue procedure=procedure charge$ unit units$ rate$ non_covered$"),
        "SV3": fill(
            "procedure=procedure charge$ place?places_of_service oral_areas=parts prosthesis"
            " units$ - copay_exempt - - pointers=parts"
        ),
        "TOO": each("teeth", into(Tooth, "code_list number surfaces=parts")),
    },
    loops={
        "2410": Below("drugs", DRUG),
        "2430": Below("decisions", LINE_DECISION),
        **{f"2420{letter}": _PROVIDERS for letter in "ABCDEFGHI"},
    },
)
OTHER_PAYER = Sorter(
    OtherPayer,
    {
        "SBR": _SBR,
        "CAS": shared_types.ADJUSTMENTS,
        "AMT": shared_types.AMOUNTS,
        "OI": fill("- - assigned signature - release"),
        "MIA": shared_types.INPATIENT,
        "MOA": shared_types.OUTPATIENT,
    },
    loops={
        "2330A": Below("subscriber", shared_types.PARTY, many=False),
        "2330B": Below("payer", shared_types.PARTY, many=False),
        **{f"2330{letter}": _PROVIDERS for letter in "CDEFGHI"},
    },
)
CLAIM = Sorter(
    Claim,
    {
        **_FACTS,
        "CLM": _CLM,
        "CL1": once("admission", into(Admission, "kind origin status")),
        "DN1": once("orthodontics", into(Orthodontics, "months$ months_left$ - treatment")),
        "DN2": each("teeth", into(Tooth, "number status - - - code_list")),
        "HI": every("codes", _codes),
    },
    loops={
        "2320": Below("other_payers", OTHER_PAYER),
        "2400": Below("lines", LINE),
        **{f"2310{letter}": _PROVIDERS for letter in "ABCDEF"},
    },
)
PATIENT = Sorter(
    Patient,
    {"HL": shared_types.LEVEL, "PAT": fill(f"relationship?relationships {_PATIENT}")},
    loops={
        "2300": Below("claims", CLAIM),
        "2010CA": Below("party", shared_types.PARTY, many=False),
    },
)
SUBSCRIBER = Sorter(
    Subscriber,
    {"HL": shared_types.LEVEL, "SBR": _SBR, "PAT": fill(f"- {_PATIENT}")},
    loops={
        "2010BA": Below("party", shared_types.PARTY, many=False),
        "2010BB": Below("payer", shared_types.PARTY, many=False),
        "2300": Below("claims", CLAIM),
        "2000C": Below("patients", PATIENT),
    },
)
BILLING = Sorter(
    Billing,
    {"HL": shared_types.LEVEL, "PRV": shared_types.PARTY_ROWS["PRV"]},
    loops={
        "2010AA": Below("party", shared_types.PARTY, many=False),
        "2010AB": Below("pay_to", shared_types.PARTY, many=False),
        "2010AC": Below("pay_to_plan", shared_types.PARTY, many=False),
        "2000B": Below("subscribers", SUBSCRIBER),
    },
)
SET = Sorter(
    Claims,
    shared_types.FRAME,
    loops={
        "1000A": Below("submitter", shared_types.PARTY, many=False),
        "1000B": Below("receiver", shared_types.PARTY, many=False),
        "2000A": Below("billing", BILLING),
    },
)
