"""Claims as JSON of ``/clearlane/v1``: types for the documentation, and the functions that make the objects.

Money is text with two decimals, moments are UTC, and what there is not is null or an empty list. Names are only ever
added.
"""

from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from clearlane.api.frame.json_model import JsonModel
from clearlane.claims.awaiting import Awaited, AwaitedFrom
from clearlane.claims.kinds import SUBMITTED_KINDS
from clearlane.claims.lifecycle import ClaimState
from clearlane.claims.responses.advice_act import AdviceAct
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.payers.filing_limits import FilingKind
from clearlane.pipeline.enrollment.era_answer import EraState
from clearlane.store.claims.claims import NEVER_SENT

STATES = (*(state.value for state in ClaimState), *NEVER_SENT)
Money = Annotated[str, Field(description="Dollars.", pattern=r"^-?\d+\.\d\d$", examples=["150.00"])]

Act = Annotated[str, Field(json_schema_extra={"enum": list(AdviceAct)})]


class FindingJson(JsonModel):
    """What is wrong with a claim, or was repaired or reported, in the vendor's field names."""

    rule: Annotated[str, Field(description="The rule, or the payer's answer and its code.")]
    severity: Annotated[
        Literal["error", "warning", "info"],
        Field(description="`error`: the claim was not accepted for it, or a payer rejected it."),
    ]
    field: Annotated[str, Field(description="The field's path in the claim.")]
    message: Annotated[str, Field(description="What is wrong and what would pass.")]
    act: Annotated[
        Act | None,
        Field(
            description="What the payer's answer asks for; null for a finding of our own checks."
        ),
    ]


class AwaitedJson(JsonModel):
    """The one thing that an open claim awaits."""

    model_config = ConfigDict(populate_by_name=True)

    what: Annotated[str, Field(json_schema_extra={"enum": list(Awaited)})]
    source: Annotated[str, Field(alias="from", json_schema_extra={"enum": list(AwaitedFrom)})]
    since: datetime
    by: Annotated[
        datetime | None, Field(description="Null if no time is known by which it is to come.")
    ]
    overdue: bool


class FilingLimitJson(JsonModel):
    """By when an open claim is to be with its payer, or appealed."""

    kind: Annotated[str, Field(json_schema_extra={"enum": list(FilingKind)})]
    by: Annotated[date | None, Field(description="The last day; null if the limit is not known.")]
    met: Annotated[bool, Field(description="Whether the payer has received it.")]


class ClaimJson(JsonModel):
    """A claim as lists show it."""

    id: Annotated[str, Field(description="Its `claim_number`.")]
    claim_number: Annotated[str, Field(description="Ours: V3's `ClaimNumber` and `RequestId`.")]
    vendor_claim_id: Annotated[str, Field(description="The vendor's, as it was sent.")]
    site: Annotated[str, Field(description="The vendor site id.")]
    kind: Annotated[str, Field(json_schema_extra={"enum": list(SUBMITTED_KINDS)})]
    bill_type: Annotated[
        str | None,
        Field(
            description="Of an institutional claim: facility, classification and frequency, such as 111."
        ),
    ]
    state: Annotated[
        str, Field(description="The state of the claim.", json_schema_extra={"enum": list(STATES)})
    ]
    label: Annotated[
        str,
        Field(
            description="What people call it: state and payment in one word, as the console shows it.",
            json_schema_extra={"enum": list(ClaimLabel)},
        ),
    ]
    reason: Annotated[
        str, Field(description="Why it has its label: the first thing to fix, or a sentence.")
    ]
    payer_id: str
    payer_control_number: Annotated[str | None, Field(description="The payer's number of it.")]
    awaiting: Annotated[
        AwaitedJson | None, Field(description="What it awaits; null for a closed claim.")
    ]
    filing_limit: Annotated[
        FilingLimitJson | None,
        Field(
            description="By when it is to be with its payer; null for a closed claim, and for a notice, which has no limit."
        ),
    ]
    charge: Money
    paid: Annotated[Money | None, Field(description="Null before a payer decided.")]
    patient: Annotated[
        Money | None, Field(description="What the patient owes; null before a payer decided.")
    ]
    adjustments: Annotated[str, Field(description="Adjustments other than what the patient owes.")]
    document_id: Annotated[str | None, Field(description="The payer's latest document on it.")]
    created_at: datetime
    changed_at: Annotated[datetime, Field(description="When anything was last learned about it.")]
    predecessor: Annotated[
        str | None, Field(description="Number of the claim that it took over from.")
    ]
    successor: Annotated[
        str | None,
        Field(description="Number of the claim that was sent, or was to be sent, in its place."),
    ]
    prior_payer_claim: Annotated[
        str | None,
        Field(
            description="Of a secondary claim: number of the claim under the same id whose payer's decision it carries."
        ),
    ]
    shadow: Annotated[
        bool,
        Field(description="Whether it came in a shadow file: it was judged, and is never sent."),
    ]


class PatientJson(JsonModel):
    """The patient of a claim, from what it was sent with."""

    last_name: str | None
    first_name: str | None
    birth_date: date | None
    member_id: Annotated[str | None, Field(description="The insured's member id.")]
    account_number: Annotated[str | None, Field(description="The patient's account number.")]


class ServiceDaysJson(JsonModel):
    """The days of service of a claim; of a bill of a stay, its statement."""

    service_from: date | None
    service_to: date | None


class ClaimLineJson(ServiceDaysJson):
    """A service line of a claim, as it was sent."""

    line_number: int
    line_control_number: str | None
    revenue_code: str | None
    procedure: str | None
    modifiers: list[str]
    units: str | None
    charge: Money | None


class IncludedJson(JsonModel):
    """What `include` asked for."""

    patient: PatientJson | None = None
    service_days: ServiceDaysJson | None = None
    lines: list[ClaimLineJson] | None = None


class ListedClaimJson(ClaimJson):
    """A claim as lists show it, with what was asked for beside it."""

    included: Annotated[
        IncludedJson | None,
        Field(description="Only with `include`: each word that was asked for, with what it holds."),
    ] = None


class HistoryEntryJson(JsonModel):
    """One thing that happened to a claim."""

    happened_at: datetime
    event: Annotated[str, Field(description="What happened, in words.")]
    file: Annotated[
        str | None,
        Field(description="The payer's file that reported it, or ours that it was sent in."),
    ]
    document_id: str | None
    sentences: list[str]
    findings: list[FindingJson]


class BatchJson(JsonModel):
    """A batch that holds the claim, sent or not."""

    id: int
    batch_id: int
    file: str
    state: str
    created_at: datetime
    delivered_at: datetime | None


class ClaimDocumentJson(JsonModel):
    """A payer's answer about a claim. Its id works in V3's `get_by_doc_id` too."""

    id: str
    document_id: str
    type: Literal["payment", "status"]
    claim_number: str
    created_at: datetime


class ClaimPaymentJson(JsonModel):
    """What a payment says about one claim."""

    model_config = ConfigDict(extra="allow")

    id: str
    claim_payment_id: str
    type: Literal["original", "reversal", "correction"]
    label: str
    claim_number: str
    vendor_claim_id: str
    in_force: Annotated[
        bool, Field(description="Whether it counts: neither reversed nor replaced.")
    ]
    document_id: str
    charge: Money
    paid: Money
    patient: str | None
    lines: list[dict[str, Any]]


class PaymentOfClaimJson(ClaimPaymentJson):
    """What one payment says about the claim."""

    payment_id: str


class SeriesMemberJson(JsonModel):
    """A bill of a stay: a claim with its own label and money."""

    claim_number: str
    frequency: str
    service_from: date | None
    service_to: date | None
    label: str
    counts: Annotated[bool, Field(description="Whether it is part of what the series comes to.")]
    charge: Money
    paid: Money
    patient: Money


class SeriesJson(JsonModel):
    """The bills of one stay: institutional claims with one payer, patient, provider and admission day."""

    type: Annotated[
        Literal["additive", "cumulative"],
        Field(
            description="`additive`: each bill is for days of its own. `cumulative`: each is from the admission on, and "
            "the last one counts."
        ),
    ]
    charge: Money
    paid: Money
    patient: Money
    members: list[SeriesMemberJson]


class EraJson(JsonModel):
    """Whether an ERA (835) about a claim came, is to come, or why not."""

    state: Annotated[str, Field(json_schema_extra={"enum": list(EraState)})]
    reason: Annotated[str, Field(description="In a sentence.")]


class ClaimDetailsJson(ListedClaimJson):
    """One claim with everything known about it."""

    also_billed_as: Annotated[
        list[str],
        Field(
            description="Numbers of the claims under the same id that bill the same services to another payer."
        ),
    ]
    series: Annotated[
        SeriesJson | None,
        Field(description="The bills of the stay that it bills; null if it is the only one."),
    ]
    era: Annotated[EraJson | None, Field(description="Null if the payer does not have the claim.")]
    findings: Annotated[
        list[FindingJson], Field(description="Findings of our checks and of payers.")
    ]
    history: Annotated[
        list[HistoryEntryJson], Field(description="In the order in which it was learned.")
    ]
    batches: list[BatchJson]
    documents: list[ClaimDocumentJson]
    payments: list[PaymentOfClaimJson]


Json = dict[str, object]
