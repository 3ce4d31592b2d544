"""View of an 837 (professional, dental, institutional).

Billing providers contain subscribers; subscribers contain their claims, and patients with theirs.
``ClaimSetView.claims_with_parties`` iterates over all claims with their parties. Knows claim loops; knows no claim form.
"""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from clearlane.x12.tree import Segment
from clearlane.x12.views import shared_types
from clearlane.x12.views.binding import (
    ELEMENT_READERS,
    Binding,
    ChildLoop,
    CompositeReader,
    View,
    ViewBuilder,
    append,
    extend,
    fill,
    read_into,
    set_once,
)


class PlaceOfServiceView(View, frozen=True):
    """CLM05: place of service, its code qualifier, and the claim frequency."""

    code: str = ""
    qualifier: str = ""
    frequency: str = ""
    frequency_words: str = ""


class RelatedCausesView(View, frozen=True):
    """CLM11: what an illness or injury is related to."""

    first: str = ""
    second: str = ""
    third: str = ""
    state: str = ""
    country: str = ""


class HealthCareCodeView(View, frozen=True):
    """One code of an HI: a diagnosis, a procedure, a condition, an occurrence, a value."""

    qualifier: str = ""
    code: str = ""
    form: str = ""
    when: str = ""
    """A day or a period, in the format ``form``."""
    amount: Decimal | None = None
    quantity: Decimal | None = None
    version: str = ""
    range_end: str = ""
    present_on_admission: str = ""

    @property
    def is_diagnosis(self) -> bool:
        """Whether the code is from a list of diagnoses."""
        return self.qualifier in DIAGNOSES


class AttachmentView(View, frozen=True):
    """PWK: an attachment."""

    report: str = ""
    travels: str = ""
    qualifier: str = ""
    control: str = ""


class ContractView(View, frozen=True):
    """CN1: contract information."""

    kind: str = ""
    amount: Decimal | None = None
    percentage: Decimal | None = None
    code: str = ""
    discount: Decimal | None = None
    version: str = ""


class ConditionCodesView(View, frozen=True):
    """CRC: condition codes."""

    category: str = ""
    applies: str = ""
    codes: tuple[str, ...] = ()


class ToothView(View, frozen=True):
    """TOO or DN2: a tooth with its surfaces or its status."""

    code_list: str = ""
    number: str = ""
    surfaces: tuple[str, ...] = ()
    status: str = ""


class AdmissionView(View, frozen=True):
    """CL1: admission of an institutional claim."""

    kind: str = ""
    origin: str = ""
    status: str = ""


class OrthodonticsView(View, frozen=True):
    """DN1: orthodontic treatment."""

    months: Decimal | None = None
    months_left: Decimal | None = None
    treatment: str = ""


class DrugView(View, frozen=True):
    """LIN and CTP: a drug and its quantity."""

    qualifier: str = ""
    code: str = ""
    quantity: Decimal | None = None
    unit: tuple[str, ...] = ()
    references: tuple[shared_types.ReferenceView, ...] = ()
    other: tuple[list[str], ...] = ()


class LineAdjudicationView(View, frozen=True):
    """SVD: how another payer adjudicated the line."""

    payer: str = ""
    paid: Decimal | None = None
    procedure: shared_types.ProcedureView | None = None
    revenue: str = ""
    units: Decimal | None = None
    bundled_into: str = ""
    adjustments: tuple[shared_types.AdjustmentView, ...] = ()
    dates: tuple[shared_types.DateView, ...] = ()
    amounts: tuple[shared_types.AmountView, ...] = ()
    other: tuple[list[str], ...] = ()


class ServiceLineView(View, frozen=True):
    """LX and SV1, SV2 or SV3: a service line."""

    number: str = ""
    procedure: shared_types.ProcedureView | None = None
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
    teeth: tuple[ToothView, ...] = ()
    dates: tuple[shared_types.DateView, ...] = ()
    quantities: tuple[shared_types.QuantityView, ...] = ()
    references: tuple[shared_types.ReferenceView, ...] = ()
    amounts: tuple[shared_types.AmountView, ...] = ()
    attachments: tuple[AttachmentView, ...] = ()
    contract: ContractView | None = None
    conditions: tuple[ConditionCodesView, ...] = ()
    notes: tuple[shared_types.NoteView, ...] = ()
    fixed_format: tuple[str, ...] = ()
    """K3: texts that a state or payer defines."""
    drugs: tuple[DrugView, ...] = ()
    providers: tuple[shared_types.PartyView, ...] = ()
    decisions: tuple[LineAdjudicationView, ...] = ()
    other: tuple[list[str], ...] = ()

    @property
    def control(self) -> str:
        """REF*6R, the line control number."""
        return next((ref.value for ref in self.references if ref.qualifier == "6R"), "")


class OtherPayerView(View, frozen=True):
    """2320: another coverage of the patient, and that payer's adjudication."""

    order: str = ""
    relationship: str = ""
    relationship_words: str = ""
    group_number: str = ""
    group_name: str = ""
    insurance: str = ""
    filing: str = ""
    filing_words: str = ""
    adjustments: tuple[shared_types.AdjustmentView, ...] = ()
    amounts: tuple[shared_types.AmountView, ...] = ()
    assigned: str = ""
    signature: str = ""
    release: str = ""
    inpatient: shared_types.AdjudicationView | None = None
    outpatient: shared_types.AdjudicationView | None = None
    subscriber: shared_types.PartyView | None = None
    payer: shared_types.PartyView | None = None
    providers: tuple[shared_types.PartyView, ...] = ()
    other: tuple[list[str], ...] = ()


class ClaimLoopView(View, frozen=True):
    """CLM: a claim."""

    number: str = ""
    """CLM01, which comes back in the 277CA and the 835."""
    charge: Decimal | None = None
    place: PlaceOfServiceView | None = None
    signature: str = ""
    assignment: str = ""
    benefits_assigned: str = ""
    release: str = ""
    patient_signature: str = ""
    causes: RelatedCausesView | None = None
    program: str = ""
    submission_reason: str = ""
    delay: str = ""
    dates: tuple[shared_types.DateView, ...] = ()
    admission: AdmissionView | None = None
    orthodontics: OrthodonticsView | None = None
    teeth: tuple[ToothView, ...] = ()
    attachments: tuple[AttachmentView, ...] = ()
    contract: ContractView | None = None
    amounts: tuple[shared_types.AmountView, ...] = ()
    references: tuple[shared_types.ReferenceView, ...] = ()
    notes: tuple[shared_types.NoteView, ...] = ()
    fixed_format: tuple[str, ...] = ()
    """K3: texts that a state or payer defines."""
    conditions: tuple[ConditionCodesView, ...] = ()
    codes: tuple[HealthCareCodeView, ...] = ()
    quantities: tuple[shared_types.QuantityView, ...] = ()
    providers: tuple[shared_types.PartyView, ...] = ()
    other_payers: tuple[OtherPayerView, ...] = ()
    lines: tuple[ServiceLineView, ...] = ()
    other: tuple[list[str], ...] = ()

    @property
    def diagnoses(self) -> tuple[HealthCareCodeView, ...]:
        """The diagnoses in file order, the principal one first."""
        return tuple(code for code in self.codes if code.is_diagnosis)


class PatientView(View, frozen=True):
    """2000C: a patient who is not the subscriber."""

    level: shared_types.LevelView | None = None
    relationship: str = ""
    relationship_words: str = ""
    died: date | None = None
    weight_unit: str = ""
    weight: Decimal | None = None
    pregnant: str = ""
    party: shared_types.PartyView | None = None
    claims: tuple[ClaimLoopView, ...] = ()
    other: tuple[list[str], ...] = ()


class SubscriberView(View, frozen=True):
    """2000B: the subscriber, the payer, and the claims."""

    level: shared_types.LevelView | None = None
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
    party: shared_types.PartyView | None = None
    payer: shared_types.PartyView | None = None
    claims: tuple[ClaimLoopView, ...] = ()
    patients: tuple[PatientView, ...] = ()
    other: tuple[list[str], ...] = ()


class BillingProviderView(View, frozen=True):
    """2000A: a billing provider with its subscribers."""

    level: shared_types.LevelView | None = None
    specialty: shared_types.SpecialtyView | None = None
    party: shared_types.PartyView | None = None
    pay_to: shared_types.PartyView | None = None
    pay_to_plan: shared_types.PartyView | None = None
    subscribers: tuple[SubscriberView, ...] = ()
    other: tuple[list[str], ...] = ()


class ClaimWithPartiesView(View, frozen=True):
    """A claim with its parties. ``patient`` is None if the subscriber is the patient."""

    billing: BillingProviderView
    subscriber: SubscriberView
    patient: PatientView | None
    claim: ClaimLoopView


class ClaimSetView(View, frozen=True, tag_field="view", tag="claims"):
    """All of an 837."""

    start: shared_types.SetHeaderView | None = None
    heading: shared_types.HeadingView | None = None
    submitter: shared_types.PartyView | None = None
    receiver: shared_types.PartyView | None = None
    billing: tuple[BillingProviderView, ...] = ()
    end: shared_types.SetTrailerView | None = None
    other: tuple[list[str], ...] = ()

    @property
    def claims_with_parties(self) -> Iterator[ClaimWithPartiesView]:
        """Every claim with its parties, in file order."""
        for billing in self.billing:
            for subscriber in billing.subscribers:
                for claim in subscriber.claims:
                    yield ClaimWithPartiesView(
                        billing=billing, subscriber=subscriber, patient=None, claim=claim
                    )
                for patient in subscriber.patients:
                    for claim in patient.claims:
                        yield ClaimWithPartiesView(
                            billing=billing, subscriber=subscriber, patient=patient, claim=claim
                        )


DIAGNOSES = frozenset({
    "ABF", "ABJ", "ABK", "ABN", "APR", "BF", "BJ", "BK", "BN", "PR", "TQ", "DR",
})  # fmt: skip
"""HI code lists of diagnoses: principal, other, admitting, external cause, reason for the visit."""


def _codes(segment: Segment, other: list[Segment]) -> tuple[HealthCareCodeView, ...]:
    """Read the codes of an HI; a claim may have several."""
    found = [_CODE.read(text) for text in segment[1:] if text]
    if not all(whole for _, whole in found):
        other.append(segment)
    return tuple(code for code, _ in found)


def _fixed_format(segment: Segment, other: list[Segment]) -> str:
    """Read a K3, which has one element in every guide."""
    if len(segment) != 2:
        other.append(segment)
    return segment[1] if len(segment) > 1 else ""


_CODE = CompositeReader(
    HealthCareCodeView,
    "qualifier code form when amount$ quantity$ version range_end present_on_admission",
)
ELEMENT_READERS |= {
    "place": CompositeReader(PlaceOfServiceView, "code qualifier frequency?claim_frequencies"),
    "causes": CompositeReader(RelatedCausesView, "first second third state country"),
}
_PATIENT = "- - - -=d8 died! weight_unit weight$ pregnant"
_SBR = fill(
    "order relationship?relationships group_number group_name insurance - - - filing?claim_filing"
)
_CLM = fill(
    "number charge$ - - place=place signature assignment benefits_assigned release"
    " patient_signature causes=causes program - - - - - - submission_reason delay"
)
_PROVIDERS = ChildLoop("providers", shared_types.PARTY)
_FACTS: dict[str, Binding] = {
    "DTP": shared_types.DATES,
    "REF": shared_types.REFERENCES,
    "AMT": shared_types.AMOUNTS,
    "QTY": shared_types.QUANTITIES,
    "NTE": shared_types.NOTES,
    "K3": append("fixed_format", _fixed_format),
    "PWK": append("attachments", read_into(AttachmentView, "report travels - - qualifier control")),
    "CN1": set_once(
        "contract", read_into(ContractView, "kind amount$ percentage$ code discount$ version")
    ),
    "CRC": append(
        "conditions",
        read_into(ConditionCodesView, "category applies codes+ codes+ codes+ codes+ codes+"),
    ),
}
DRUG = ViewBuilder(
    DrugView,
    {
        "LIN": fill("- qualifier code"),
        "CTP": fill("- - - quantity$ unit=parts"),
        "REF": shared_types.REFERENCES,
    },
)
LINE_DECISION = ViewBuilder(
    LineAdjudicationView,
    {
        "SVD": fill("payer paid$ procedure=procedure revenue units$ bundled_into"),
        "CAS": shared_types.ADJUSTMENTS,
        "DTP": shared_types.DATES,
        "AMT": shared_types.AMOUNTS,
    },
)
LINE = ViewBuilder(
    ServiceLineView,
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
        "TOO": append("teeth", read_into(ToothView, "code_list number surfaces=parts")),
    },
    loops={
        "2410": ChildLoop("drugs", DRUG),
        "2430": ChildLoop("decisions", LINE_DECISION),
        **{f"2420{letter}": _PROVIDERS for letter in "ABCDEFGHI"},
    },
)
OTHER_PAYER = ViewBuilder(
    OtherPayerView,
    {
        "SBR": _SBR,
        "CAS": shared_types.ADJUSTMENTS,
        "AMT": shared_types.AMOUNTS,
        "OI": fill("- - assigned signature - release"),
        "MIA": shared_types.INPATIENT,
        "MOA": shared_types.OUTPATIENT,
    },
    loops={
        "2330A": ChildLoop("subscriber", shared_types.PARTY, many=False),
        "2330B": ChildLoop("payer", shared_types.PARTY, many=False),
        **{f"2330{letter}": _PROVIDERS for letter in "CDEFGHI"},
    },
)
CLAIM = ViewBuilder(
    ClaimLoopView,
    {
        **_FACTS,
        "CLM": _CLM,
        "CL1": set_once("admission", read_into(AdmissionView, "kind origin status")),
        "DN1": set_once(
            "orthodontics", read_into(OrthodonticsView, "months$ months_left$ - treatment")
        ),
        "DN2": append("teeth", read_into(ToothView, "number status - - - code_list")),
        "HI": extend("codes", _codes),
    },
    loops={
        "2320": ChildLoop("other_payers", OTHER_PAYER),
        "2400": ChildLoop("lines", LINE),
        **{f"2310{letter}": _PROVIDERS for letter in "ABCDEF"},
    },
)
PATIENT = ViewBuilder(
    PatientView,
    {"HL": shared_types.LEVEL, "PAT": fill(f"relationship?relationships {_PATIENT}")},
    loops={
        "2300": ChildLoop("claims", CLAIM),
        "2010CA": ChildLoop("party", shared_types.PARTY, many=False),
    },
)
SUBSCRIBER = ViewBuilder(
    SubscriberView,
    {"HL": shared_types.LEVEL, "SBR": _SBR, "PAT": fill(f"- {_PATIENT}")},
    loops={
        "2010BA": ChildLoop("party", shared_types.PARTY, many=False),
        "2010BB": ChildLoop("payer", shared_types.PARTY, many=False),
        "2300": ChildLoop("claims", CLAIM),
        "2000C": ChildLoop("patients", PATIENT),
    },
)
BILLING = ViewBuilder(
    BillingProviderView,
    {"HL": shared_types.LEVEL, "PRV": shared_types.PARTY_ROWS["PRV"]},
    loops={
        "2010AA": ChildLoop("party", shared_types.PARTY, many=False),
        "2010AB": ChildLoop("pay_to", shared_types.PARTY, many=False),
        "2010AC": ChildLoop("pay_to_plan", shared_types.PARTY, many=False),
        "2000B": ChildLoop("subscribers", SUBSCRIBER),
    },
)
SET = ViewBuilder(
    ClaimSetView,
    shared_types.FRAME,
    loops={
        "1000A": ChildLoop("submitter", shared_types.PARTY, many=False),
        "1000B": ChildLoop("receiver", shared_types.PARTY, many=False),
        "2000A": ChildLoop("billing", BILLING),
    },
)
