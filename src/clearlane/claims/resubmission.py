"""Decide what a vendor's claim id sent again means, and how a correction goes to the payer.

A vendor's claim id identifies the vendor's claim, which may have to be sent more than once. For ``submit``, and for
every other way a correction can be made. Pure: is given the earlier claim and the time, reads neither.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from clearlane.claims.claim_subject import SubjectComparison
from clearlane.claims.codes import ADDING, REOPENING
from clearlane.claims.header import ClaimHeader
from clearlane.claims.lifecycle import NOT_DELIVERED, REFUSED_OR_CANCELED, ClaimState
from clearlane.kernel.redacted_repr import redact_repr

ORIGINAL, REPLACEMENT, VOID = "1", "7", "8"
ORIGINAL_ONLY = "original_only"
"""The payer's attribute ``replacements`` if it takes neither replacements nor voids."""
TAKES_NO_REPLACEMENTS = "The payer takes no replacements"
NOT_PROCESSED = "The payer could not process the earlier claim"

# Unchanged and unpaid, a claim within this time is taken for a repeated request, later for a new claim.
REPEATED_REQUEST_HOURS = 24


class ResubmissionDecision(StrEnum):
    """What a claim under a known vendor's claim id is."""

    REPEATED_REQUEST = "repeated-request"
    """The earlier claim again: answered with its claim number, and nothing is sent."""
    ID_IN_USE = "id-in-use"
    """Another claim while the earlier one is on its way: not accepted."""
    SUCCESSOR = "successor"
    """A new claim, which takes over the id and the place of the earlier one."""
    ANOTHER_CLAIM = "another-claim"
    """A claim of its own, which takes over the id; the earlier one stays as it is."""
    CODE_MISSING = "code-missing"
    """Other content for what the payer paid or left to the patient, without a resubmission code: not accepted."""
    UNDECIDED = "undecided"
    """What both claims are about decides: compare them."""


TAKES_THE_ID = frozenset({ResubmissionDecision.SUCCESSOR, ResubmissionDecision.ANOTHER_CLAIM})
REFUSALS = frozenset({ResubmissionDecision.ID_IN_USE, ResubmissionDecision.CODE_MISSING})


@dataclass(frozen=True, slots=True, kw_only=True)
class ResubmissionTimes:
    """The moments that decide how old an earlier claim is. In a sandbox they follow the payers' calendar."""

    repeated_since: datetime
    """Unchanged and unpaid, a claim accepted later than this is taken for a repeated request."""
    silent_since: datetime
    """A payer that said nothing later than this has been silent for too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierClaim:
    """The current claim under a vendor's claim id."""

    state: ClaimState
    accepted_at: datetime
    last_word_at: datetime
    """The last time anything was learned about it."""
    paid_cents: int
    patient_cents: int = 0
    """What the payer left to the patient."""

    @property
    def nothing_due(self) -> bool:
        """Whether the payer paid nothing and left nothing to the patient."""
        return self.paid_cents <= 0 and self.patient_cents <= 0

    @property
    def delivered(self) -> bool:
        """Whether a batch with it reached the payer."""
        return self.state not in NOT_DELIVERED


def decide_resubmission(
    earlier: EarlierClaim,
    *,
    same_content: bool,
    frequency: str,
    times: ResubmissionTimes,
    is_correction: bool = False,
    compared: SubjectComparison | None = None,
) -> ResubmissionDecision:
    """Return what a claim is that came under the id of an earlier one.

    ``is_correction``: a person or a v1 call named the claim to be corrected. ``compared`` is needed only after the answer
    that both must be compared.
    """
    if earlier.state in REFUSED_OR_CANCELED:
        return ResubmissionDecision.SUCCESSOR
    if same_content and _is_repeated(earlier, times):
        return ResubmissionDecision.REPEATED_REQUEST
    if frequency in ADDING and not same_content:
        return ResubmissionDecision.ANOTHER_CLAIM
    if earlier.state is ClaimState.COMPLETE and frequency == ORIGINAL and not same_content:
        return _decide_other_content(earlier, compared, is_correction=is_correction)
    if earlier.state is ClaimState.COMPLETE or is_silent(earlier, times):
        return ResubmissionDecision.SUCCESSOR
    if frequency in {REPLACEMENT, REOPENING, VOID} and earlier.delivered and not same_content:
        return ResubmissionDecision.SUCCESSOR
    return ResubmissionDecision.ID_IN_USE


def _decide_other_content(
    earlier: EarlierClaim, compared: SubjectComparison | None, *, is_correction: bool
) -> ResubmissionDecision:
    """Return what other content without a resubmission code is after the payer's decision.

    It is never a replacement of what was paid or left to the patient, unless a person or a v1 call names that claim. Then
    it must stay with its payer, insured and patient: else the payment would belong to no claim.
    """
    if compared is None:
        return ResubmissionDecision.UNDECIDED
    if earlier.nothing_due and (compared.common_day or is_correction):
        return ResubmissionDecision.SUCCESSOR
    if not compared.same_subject:
        return ResubmissionDecision.ANOTHER_CLAIM
    if is_correction:
        return ResubmissionDecision.SUCCESSOR
    if not (compared.common_day and compared.same_purpose):
        return ResubmissionDecision.ANOTHER_CLAIM
    return ResubmissionDecision.CODE_MISSING


def _is_repeated(earlier: EarlierClaim, times: ResubmissionTimes) -> bool:
    """Return whether the same content is the same request again, rather than a claim to be sent again."""
    if earlier.state is not ClaimState.COMPLETE:
        return not is_silent(earlier, times)
    return not earlier.nothing_due or earlier.accepted_at > times.repeated_since


def is_silent(earlier: EarlierClaim, times: ResubmissionTimes) -> bool:
    """Return whether the payer has said nothing about a delivered claim for too long."""
    return (
        earlier.delivered
        and earlier.state is not ClaimState.COMPLETE
        and earlier.last_word_at <= times.silent_since
    )


@redact_repr
@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionNumbers:
    """What a claim says of itself as a correction; insured and what is asked for tell whether two claims are about the same."""

    frequency: str
    payer_number: str
    """The payer's number of the claim that it replaces or voids."""
    payer_id: str
    insured: str
    is_predetermination: bool

    def concerns_the_same(self, other: "CorrectionNumbers") -> bool:
        """Return whether another claim is for the same payer, insured and purpose."""
        return (self.payer_id, self.insured, self.is_predetermination) == (
            other.payer_id,
            other.insured,
            other.is_predetermination,
        )


def correction_numbers(header: ClaimHeader, payer_id: str) -> CorrectionNumbers:
    """Return what a claim says of itself as a correction."""
    return CorrectionNumbers(
        frequency=header.frequency,
        payer_number=header.original_reference,
        payer_id=payer_id,
        insured=header.member_id,
        is_predetermination=header.is_predetermination,
    )


@redact_repr
@dataclass(frozen=True, slots=True, kw_only=True)
class PredecessorClaim:
    """The claim that a correction takes over from."""

    claim_number: str
    state: ClaimState
    is_silent: bool
    payer_number: str
    """The number that the payer gave it."""
    numbers: CorrectionNumbers
    is_unprocessable: bool = False
    """Whether the payer's decision says that it could not process it, so that there is nothing to replace."""

    @property
    def is_unknown_to_the_payer(self) -> bool:
        """Whether the payer rejected it or never answered."""
        refused = self.state in REFUSED_OR_CANCELED
        return refused or (self.is_silent and not self.payer_number)

    @property
    def number_at_the_payer(self) -> str:
        """The number under which the payer has what is to be corrected; empty if it has nothing.

        For a rejected replacement, that is the number of the claim that it was to replace.
        """
        return self.numbers.payer_number if self.is_unknown_to_the_payer else self.payer_number


@dataclass(frozen=True, slots=True)
class Correction:
    """How a correction goes to the payer: its frequency, the payer's number with it, and why."""

    frequency: str
    payer_number: str = field(repr=False)
    reason: str


def needs_predecessor(sent: CorrectionNumbers, replacements: str) -> bool:
    """Return whether a claim is a replacement or void that leaves the payer's number to be found."""
    return (
        sent.frequency in {REPLACEMENT, VOID}
        and not sent.payer_number
        and replacements != ORIGINAL_ONLY
    )


def plan_correction(
    sent: CorrectionNumbers,
    predecessor: PredecessorClaim | None,
    *,
    replacements: str,
    chosen: str = "",
    is_correction: bool = False,
    same_content: bool = False,
) -> Correction | None:
    """Decide how a claim goes out; None if it goes as it was sent, for its rules to judge.

    ``chosen`` is the frequency that a person decided on, if one did; a replacement or void is in ``sent`` as well.
    ``is_correction``: a person or a v1 call named the claim to be corrected. Without any of these, only other content
    (not ``same_content``) than that of a claim that was decided goes out as a replacement.
    """
    if chosen == ORIGINAL:
        return Correction(ORIGINAL, "", "A person decided that it goes out as a new claim.")
    if sent.frequency == REPLACEMENT and replacements == ORIGINAL_ONLY:
        return Correction(ORIGINAL, "", f"{TAKES_NO_REPLACEMENTS}: it goes out as a new claim.")
    if predecessor is None or (sent.frequency != ORIGINAL and sent.payer_number):
        return None
    earlier = f"the earlier claim {predecessor.claim_number}"
    if sent.frequency in {REPLACEMENT, VOID}:
        return _plan_replacement(sent, predecessor, earlier)
    if sent.frequency != ORIGINAL:
        return None
    number = sent.payer_number or predecessor.number_at_the_payer
    if same_content and not is_correction:
        why = f"It is {earlier} again, unchanged"
    else:
        why = _why_new(sent, predecessor, replacements, is_correction=is_correction)
    if why:
        return Correction(ORIGINAL, sent.payer_number, f"{why}: it goes out as a new claim.")
    reason = f"The payer has {earlier} under a number of its own: it goes out as its replacement (frequency 7)."
    return Correction(REPLACEMENT, number, reason)


def _why_new(
    sent: CorrectionNumbers,
    predecessor: PredecessorClaim,
    replacements: str,
    *,
    is_correction: bool,
) -> str:
    """Return why a claim without a resubmission code is not a replacement of its predecessor; empty if it is one."""
    number, state = predecessor.claim_number, predecessor.state
    if replacements == ORIGINAL_ONLY:
        return TAKES_NO_REPLACEMENTS
    if not sent.concerns_the_same(predecessor.numbers):
        return f"Payer, insured or purpose differ from the earlier claim {number}"
    if predecessor.numbers.frequency == VOID:
        return f"The earlier claim {number} was a void"
    if predecessor.is_unprocessable:
        return f"{NOT_PROCESSED} {number} (remark MA130), so there is nothing to replace"
    if state is not ClaimState.COMPLETE and not is_correction:
        return f"The earlier claim {number} is {state.capitalize()}"
    if not (sent.payer_number or predecessor.number_at_the_payer):
        return (
            f"The payer has no number for the earlier claim {number}, which is {state.capitalize()}"
        )
    return ""


def plan_another_claim(
    sent: CorrectionNumbers, compared: SubjectComparison, earlier: str, state: ClaimState
) -> Correction:
    """Return how a claim goes out beside an earlier one under the same id: always as a new claim."""
    stays = f"it goes out as a new claim (frequency 1), and {earlier} stays {state.capitalize()}"
    if compared.is_next_payers:
        reason = (
            f"It is secondary to {earlier}, as it carries an earlier payer's decision: {stays}."
        )
    elif compared.same_services and not compared.same_payer:
        reason = f"The same services were billed to another payer in {earlier}: {stays}."
    else:
        reason = (
            f"It is another claim under the id of {earlier}. {compared.differences()}: {stays}."
        )
    return Correction(ORIGINAL, sent.payer_number, reason)


def as_it_went_out(claim: PredecessorClaim) -> Correction:
    """Return how a claim went out, for the same request again: it must not be judged otherwise than the first time."""
    return Correction(
        claim.numbers.frequency,
        claim.numbers.payer_number,
        f"The claim {claim.claim_number} again.",
    )


def _plan_replacement(
    sent: CorrectionNumbers, predecessor: PredecessorClaim, earlier: str
) -> Correction | None:
    """Plan a replacement or void that names no number of the payer."""
    if sent.payer_id != predecessor.numbers.payer_id:
        return None
    if number := predecessor.number_at_the_payer:
        reason = f"The payer's number was taken from {earlier}."
        return Correction(sent.frequency, number, reason)
    if sent.frequency == REPLACEMENT and predecessor.is_unknown_to_the_payer:
        reason = f"The payer has no number for {earlier}, which is {predecessor.state.capitalize()}: it goes out as a new claim."
        return Correction(ORIGINAL, "", reason)
    return None
