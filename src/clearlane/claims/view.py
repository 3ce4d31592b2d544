"""A claim in our own names and types, whatever it came as.

    view = form_of(claim).view(claim)
    view.lines[2].procedure                     # None if the claim does not say it
    view.form.locate("lines[2].procedure")      # where the sender wrote it

Every value has a **path**: the attributes from the view to it, with the index of an item (``lines[2].procedure``).
A part that the claim lacks is an empty part, so that a rule needs no test for it; a list that it lacks is empty.
A view is built by the form (``view_builder``) and never stored.

Knows no form, no field of V3 and no segment of X12.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Protocol

from clearlane.claims.cob import EarlierDecision, EarlierLineDecision
from clearlane.claims.institutional_view import InstitutionalView
from clearlane.claims.kinds import ClaimKind
from clearlane.kernel.redacted_repr import redact_repr


class FormPaths(Protocol):
    """What a form can state."""

    def has(self, path: str) -> bool:
        """Return whether the form can state the value of a path."""
        ...


class ViewedForm(FormPaths, Protocol):
    """What a view knows of the form that it was read from."""

    @property
    def kind(self) -> ClaimKind: ...
    @property
    def diagnoses_max(self) -> int: ...
    @property
    def duplicate_paths(self) -> tuple[str, ...]: ...
    @property
    def payer_id_hint(self) -> str:
        """What to do about an id that no payer has, as the end of a sentence."""
        ...

    @property
    def pointers(self) -> Sequence[str]:
        """What a line calls the diagnoses of its claim, in their order: letters or numbers."""
        ...

    def locate(self, path: str) -> str:
        """Return where the sender wrote the value of a path."""
        ...

    def name_of(self, path: str) -> str:
        """Return what the sender calls the value of a path, as a sentence names it."""
        ...


@redact_repr
@dataclass(frozen=True, kw_only=True)
class PersonView:
    """The patient, the subscriber, or another payer's insured."""

    last_name: str | None = None
    first_name: str | None = None
    middle_name: str | None = None
    suffix: str | None = None
    entity_type: str | None = None
    """1 for a person, 2 for something else."""
    birth: date | None = None
    sex: str | None = None
    street: str | None = None
    street2: str | None = None
    city: str | None = None
    state: str | None = None
    zip: str | None = None
    country: str | None = None
    """Given if it is not the United States."""
    phone: str | None = None
    member_id: str | None = None
    member_id_type: str | None = None
    group_number: str | None = None
    policy_number: str | None = None
    """A policy or group number, which is sent as the member id if there is none."""
    plan_name: str | None = None
    employer: str | None = None
    relationship: str | None = None
    """The patient's relationship to this insured, as an X12 code."""


@redact_repr
@dataclass(frozen=True, kw_only=True)
class ProviderView:
    """A provider: billing, pay-to, rendering, referring, attending and so on; or a service facility."""

    last_name: str | None = None
    first_name: str | None = None
    middle_name: str | None = None
    suffix: str | None = None
    npi: str | None = None
    ein: str | None = None
    ssn: str | None = None
    second_ssn: str | None = None
    taxonomy: str | None = None
    license: str | None = None
    upin: str | None = None
    commercial_number: str | None = None
    location_number: str | None = None
    other_id: str | None = None
    street: str | None = None
    street2: str | None = None
    city: str | None = None
    state: str | None = None
    zip: str | None = None
    country: str | None = None
    """Given if it is not the United States."""
    phone: str | None = None


NOBODY = PersonView()
NO_PROVIDER = ProviderView()


@redact_repr
@dataclass(frozen=True, kw_only=True)
class PayerView:
    """The payer of a claim, or another one with its insured and its decision."""

    id: str | None = None
    name: str | None = None
    plan_name: str | None = None
    """The name of the plan, used for a payer without a name."""
    coverage: str | None = None
    """The type of coverage (SBR09)."""
    street: str | None = None
    street2: str | None = None
    city: str | None = None
    state: str | None = None
    zip: str | None = None
    country: str | None = None
    insured: PersonView = NOBODY
    decision: EarlierDecision | None = None
    is_named: bool = False
    """Whether the claim names another payer or its insured; a decision alone names neither."""
    decided_a_stay: bool = False
    """Whether its decision has what a remittance says of a stay (MIA), and of an outpatient (MOA)."""
    decided_outpatient: bool = False


@redact_repr
@dataclass(frozen=True, kw_only=True)
class DatesView:
    """The days that a claim states beside those of its lines."""

    release: date | None = None
    assignment: date | None = None
    provider_signature: date | None = None
    service: date | None = None
    accident: date | None = None
    onset: date | None = None
    last_menstrual_period: date | None = None
    initial_treatment: date | None = None
    last_seen: date | None = None
    acute_manifestation: date | None = None
    last_x_ray: date | None = None
    prescription: date | None = None
    assumed_care_from: date | None = None
    assumed_care_until: date | None = None
    first_contact: date | None = None
    last_worked: date | None = None
    return_to_work: date | None = None
    admission: date | None = None
    discharge: date | None = None
    disability_from: date | None = None
    disability_until: date | None = None
    appliance_placed: date | None = None
    prior_placement: date | None = None


@redact_repr
@dataclass(frozen=True, kw_only=True)
class ClaimContractView:
    """A contract with the payer."""

    type: str | None = None
    amount: Decimal | None = None
    code: str | None = None


@redact_repr
@dataclass(frozen=True, kw_only=True)
class ClaimAttachmentView:
    """A paper or file that belongs to the claim."""

    report_type: str | None = None
    transmission: str | None = None
    control_number: str | None = None


@redact_repr
@dataclass(frozen=True, kw_only=True)
class LineDrugView:
    """A drug of a line: its code and its quantity, which may be given in several units."""

    code: str | None = None
    quantity: Decimal | None = None
    """The quantity without a unit."""
    international_units: Decimal | None = None
    grams: Decimal | None = None
    milligrams: Decimal | None = None
    milliliters: Decimal | None = None
    units: Decimal | None = None
    prescription: str | None = None
    link: str | None = None


@redact_repr
@dataclass(frozen=True, kw_only=True)
class MeasurementView:
    """A test result of a line."""

    reference: str | None = None
    qualifier: str | None = None
    value: Decimal | None = None


@redact_repr
@dataclass(frozen=True, kw_only=True)
class LineToothView:
    """A tooth of a line."""

    number: str | None = None
    surfaces: tuple[str | None, ...] = ()


@redact_repr
@dataclass(frozen=True, kw_only=True)
class LineAdjustmentView:
    """An earlier payer's adjustment of a line as the claim states it, complete or not."""

    group: str | None = None
    reason: str | None = None
    amount: Decimal | None = None


NO_CONTRACT = ClaimContractView()
NOT_INSTITUTIONAL = InstitutionalView()
NO_DRUG = LineDrugView()
NO_MEASUREMENT = MeasurementView()


@redact_repr
@dataclass(frozen=True, kw_only=True)
class LineView:
    """A service line."""

    control_number: str | None = None
    first_day: date | None = None
    last_day: date | None = None
    place: str | None = None
    emergency: bool | None = None
    revenue_code: str | None = None
    procedure: str = ""
    procedure_type: str | None = None
    """The code list of the procedure: HC for CPT and HCPCS, HP for HIPPS."""
    modifiers: tuple[str, ...] = ()
    description: str | None = None
    pointers: tuple[str | None, ...] = ()
    charge: Decimal | None = None
    not_covered: Decimal | None = None
    """The part of the charge that the plan does not cover, by what the provider knows."""
    units: Decimal | None = None
    unit: str | None = None
    """DA for days, UN for units."""
    in_minutes: bool | None = None
    """Whether the units are minutes of anesthesia."""
    epsdt: bool | None = None
    family_planning: bool | None = None
    rendering: ProviderView = NO_PROVIDER
    referring: ProviderView = NO_PROVIDER
    contract: ClaimContractView = NO_CONTRACT
    measurement: MeasurementView = NO_MEASUREMENT
    drug: LineDrugView = NO_DRUG
    decision: EarlierLineDecision | None = None
    adjustments: tuple[LineAdjustmentView, ...] = ()
    remaining_liability: Decimal | None = None
    note: str | None = None
    areas: tuple[str | None, ...] = ()
    """Areas of the oral cavity."""
    tooth_system: str | None = None
    teeth: tuple[LineToothView, ...] = ()


@redact_repr
@dataclass(frozen=True, kw_only=True)
class ClaimView:
    """A claim."""

    form: ViewedForm
    vendor_claim_id: str = ""
    account_number: str | None = None
    medical_record_number: str | None = None
    payer: PayerView = PayerView()
    other_coverage: bool | None = None
    """The mark that there is another insurance."""
    other_payers: tuple[PayerView, ...] = ()
    medicare_reason: str | None = None
    """Why Medicare pays after another payer."""
    subscriber: PersonView = NOBODY
    patient: PersonView = NOBODY
    """What the claim states of the patient; for a patient who is the subscriber it may be nothing."""
    billing: ProviderView = NO_PROVIDER
    pay_to: ProviderView = NO_PROVIDER
    rendering: ProviderView = NO_PROVIDER
    referring: ProviderView = NO_PROVIDER
    supervising: ProviderView = NO_PROVIDER
    ordering: ProviderView = NO_PROVIDER
    attending: ProviderView = NO_PROVIDER
    """Who has the overall care of an institutional claim; who operated, and who else did."""
    operating: ProviderView = NO_PROVIDER
    other_operating: ProviderView = NO_PROVIDER
    facility: ProviderView = NO_PROVIDER
    pick_up: ProviderView = NO_PROVIDER
    """Where an ambulance took the patient up, and where it set the patient down."""
    drop_off: ProviderView = NO_PROVIDER
    transport_reason: str | None = None
    """Why the patient was transported by ambulance."""
    release: str | None = None
    release_signature: str | None = None
    benefits_assigned: str | None = None
    benefits_signature: str | None = None
    accepts_assignment: str | None = None
    signature_on_file: bool | None = None
    provider_signature: str | None = None
    causes: tuple[str, ...] = ()
    """What the condition results from, as X12 codes: AA auto, EM employment, OA other accident."""
    accident_state: str | None = None
    dates: DatesView = DatesView()
    institutional: InstitutionalView = NOT_INSTITUTIONAL
    icd_version: str | None = None
    diagnoses: tuple[str | None, ...] = ()
    """The diagnoses by place; a place may be blank."""
    is_predetermination: bool = False
    """Whether the claim asks what would be paid, for services not yet done."""
    is_encounter: bool = False
    """Whether it reports what was done and asks for no money (BHT06 RP); a document of fields has none."""
    frequency: str | None = None
    original_reference: str | None = None
    """The payer's number of the claim that this one replaces."""
    prior_authorization: str | None = None
    predetermination_id: str | None = None
    referral_number: str | None = None
    clia_number: str | None = None
    mammography_number: str | None = None
    delay_reason: str | None = None
    patient_condition: str | None = None
    spectacle_lenses: str | None = None
    contact_lenses: str | None = None
    spectacle_frames: str | None = None
    contract: ClaimContractView = NO_CONTRACT
    attachments: tuple[ClaimAttachmentView, ...] = ()
    note: str | None = None
    place: str | None = None
    total_charge: Decimal | None = None
    patient_paid: Decimal | None = None
    payer_paid: Decimal | None = None
    """What another payer paid, by box 29."""
    earlier_paid: Decimal | None = None
    """What an earlier payer paid for the claim, as stated; its decision says what counts."""
    remaining_liability: Decimal | None = None
    """What the patient still owes for the claim after an earlier payer."""
    missing_teeth: tuple[str | None, ...] = ()
    is_orthodontic: bool | None = None
    orthodontic_months: Decimal | None = None
    replaces_prosthesis: bool | None = None
    lines: tuple[LineView, ...] = ()

    @property
    def patient_birth(self) -> date | None:
        """The patient's birth date; a claim for the subscriber need not repeat it."""
        return self.patient.birth or self.subscriber.birth

    @property
    def payers(self) -> tuple[PayerView, ...]:
        """The payers in the order in which they decide: those that decided come before the claim's own."""
        earlier = tuple(other for other in self.other_payers if other.decision is not None)
        later = tuple(other for other in self.other_payers if other.decision is None)
        return (*earlier, self.payer, *later)

    @property
    def decision(self) -> EarlierDecision | None:
        """The first decision of an earlier payer, or None."""
        return next((other.decision for other in self.other_payers if other.decision), None)
