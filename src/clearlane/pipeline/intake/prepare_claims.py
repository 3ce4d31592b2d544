"""Check claims of submitted documents and turn them into rows for the store.

For ``submit``. Pure: reads no clock, no directory and no database. Claims of several documents that arrive
together are processed together.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from operator import is_
from typing import Any, NamedTuple, TypeVar

import msgspec

from clearlane.accounts.model import Site
from clearlane.claims import fields
from clearlane.claims.claim_status import encode_claim_status, new_claim_status
from clearlane.claims.codes import NOTICES
from clearlane.claims.fields import Claim, JsonClaim
from clearlane.claims.finding import ClaimFinding
from clearlane.claims.forms import AnyClaimForm, form_of
from clearlane.claims.forms.x12_loops import check_claim
from clearlane.claims.given_values import given_values
from clearlane.claims.header import ClaimHeader, header_of
from clearlane.claims.kinds import X12
from clearlane.claims.read import decode
from clearlane.claims.read.repair_summary import REMOVED_FROM_NEW, SET_FOR_CORRECTION
from clearlane.claims.read.repairs import Repair
from clearlane.claims.resubmission import (
    ORIGINAL,
    Correction,
    ResubmissionTimes,
)
from clearlane.claims.rules import (
    COMING_ENROLLMENTS,
    ENROLLED_RULE,
    CheckedClaim,
    RuleInputs,
    check,
    repair_and_check,
)
from clearlane.claims.rules.file_claims import check_file_claim
from clearlane.claims.search_terms import search_terms
from clearlane.claims.write.write_837 import claim_account
from clearlane.claims.x12_claim import X12Claim
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.clock import to_micros
from clearlane.kernel.compared_names import search_name
from clearlane.kernel.finding import Severity
from clearlane.kernel.ids import new_number
from clearlane.kernel.redacted_repr import shows
from clearlane.payers.edits import CUMULATIVE_SERIES
from clearlane.pipeline.enrollment.billing_zip_lookup import (
    GivenZip,
    KnownZips,
    RecordedZips,
    given_zip,
)
from clearlane.pipeline.intake.code_lookup import CodeLookup
from clearlane.pipeline.intake.intake_priority import IntakePriority
from clearlane.pipeline.intake.microbatch import MicroBatcher
from clearlane.pipeline.load_claim import (
    add_findings,
    encode_claim_content,
    open_claim_content,
    seal_header,
)
from clearlane.store.claims import claim_search, claims
from clearlane.store.claims.claim_lookup import account_reference
from clearlane.store.claims.claim_query import STATUS_COLUMN
from clearlane.store.claims.claims import NOT_ACCEPTED, RECEIVED
from clearlane.store.claims.new_claims import NewClaim
from clearlane.store.vault.vault import Vault
from clearlane.x12.pattern import MONEY_DIGITS_MAX

CENT = Decimal("0.01")
# The largest charge that an 837 can carry, in dollars. A list cannot add up a larger charge.
CHARGE_DOLLARS_MAX = (10**MONEY_DIGITS_MAX - 1) * CENT
# What is read and what is judged before other calls have their turn: some sixteen usual claims, or one of fifty lines.
CLAIM_BYTES_AT_ONCE = 48 * 1024
CLAIM_LINES_AT_ONCE = 64
# No one waits for claims of files: what is done of them before other calls have their turn takes some five milliseconds.
BACKGROUND_CLAIMS_AT_ONCE = 4
PAYERS_REMEMBERED_MAX = 2_000

T = TypeVar("T")


class PendingClaim(NamedTuple):
    """A claim that was read, and what the rules need to know of it."""

    vault: Vault
    site: Site
    form: AnyClaimForm
    now: datetime
    at: str
    """Its place in the document, as findings name it."""
    claim: Claim
    facts: RuleInputs
    times: ResubmissionTimes
    tolerated: tuple[Repair, ...] = ()
    """Values that were read in another form than they were sent."""
    known_zips: KnownZips = KnownZips()
    claim_number: str = ""
    """The number that it gets; empty for a new one."""


@shows("at", "row.claim_number")
class PreparedClaim(NamedTuple):
    """A judged claim and the row it becomes."""

    at: str
    vendor_claim_id: str
    facts: RuleInputs
    judgement: CheckedClaim
    row: NewClaim
    given_zip: GivenZip | None = None
    """The billing ZIP code that came with it; None if there is none, or the claim is not accepted."""
    is_emptied: bool = False
    """Whether the judged claim has its id alone; its row has all that it says."""
    chosen_frequency: str = ""
    """The frequency that a person decided on for a correction; empty if it is to be decided."""


class KnownPayers:
    """What rules knew of payers when the last documents were judged."""

    def __init__(self) -> None:
        self._parts: tuple[object, ...] = ()
        self._known: dict[tuple[Hashable, ...], RuleInputs] = {}

    def made_of(self, *parts: object) -> dict[tuple[Hashable, ...], RuleInputs]:
        """Return what is known by these snapshots; nothing if one is not the one of the last call."""
        is_same = len(parts) == len(self._parts) and all(map(is_, parts, self._parts))
        if not is_same or len(self._known) >= PAYERS_REMEMBERED_MAX:
            self._parts, self._known = parts, {}
        return self._known


class IntakeBatcher:
    """The two stages of intake on one node, each processing claims of several documents at once."""

    def __init__(self, priority: IntakePriority | None = None, *, has_callers: bool = True) -> None:
        """``has_callers``: whether calls are answered in this process, which work in the background makes way for."""
        self.priority = priority or IntakePriority()
        self.recorded_zips = RecordedZips()
        self.codes = CodeLookup()
        self.payers = KnownPayers()
        self.reading = MicroBatcher(_read, size_max=CLAIM_BYTES_AT_ONCE, size=_claim_bytes)
        self.preparing = MicroBatcher(_prepare, size_max=CLAIM_LINES_AT_ONCE, size=_claim_lines)
        self._calling = MicroBatcher(_call_each, size_max=BACKGROUND_CLAIMS_AT_ONCE)
        self.has_callers = has_callers

    async def call_in_background(self, calls: Iterable[Callable[[], T]]) -> Sequence[T]:
        """Call functions, each about as much work as a claim, beside all other calls; return their results."""
        if not self.has_callers:
            return [call() for call in calls]
        return await self._calling.run([*calls], is_background=True)


def _call_each(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    return [call() for call in calls]


def _claim_bytes(place: tuple[decode.SubmissionDocument, int]) -> int:
    document, at = place
    return memoryview(document.raw_claims[at]).nbytes


def _claim_lines(pending: PendingClaim) -> int:
    claim = _json(pending.claim)
    return 1 + len(form_of(claim).lines(claim))


def _json(claim: Claim) -> JsonClaim:
    """Return a claim that came as JSON; those of files are judged by ``judge_file_claims``."""
    if isinstance(claim, X12Claim):
        raise TypeError("a claim of a file has no fields of V3")
    return claim


def _read(places: Sequence[tuple[decode.SubmissionDocument, int]]) -> list[decode.DecodedClaim]:
    return [document.read(at, at + 1)[0] for document, at in places]


def _prepare(pending_claims: Sequence[PendingClaim]) -> list[PreparedClaim]:
    """Judge claims and make their rows, one stage for all claims before the next stage."""
    judged = [_judge(pending) for pending in pending_claims]
    texts = [
        (fields.encode_content(claim, form_of(claim).id_field), _content(end))
        for claim, end in zip([_json(one.claim) for one in pending_claims], judged, strict=True)
    ]
    return [
        PreparedClaim(
            pending.at,
            end.header.vendor_claim_id,
            pending.facts,
            end,
            _row(pending, end, *text),
            given_zip(pending.claim) if end.accepted else None,
        )
        for pending, end, text in zip(pending_claims, judged, texts, strict=True)
    ]


def prepare_judged(pending: PendingClaim, judged: CheckedClaim, as_sent: bytes) -> PreparedClaim:
    """Return a claim that was judged already, and the row it becomes; ``as_sent`` is what makes two claims the same."""
    row = _row(pending, judged, as_sent, _content(judged))
    return PreparedClaim(pending.at, judged.header.vendor_claim_id, pending.facts, judged, row)


def _judge(pending: PendingClaim) -> CheckedClaim:
    """Judge a claim with the billing ZIP code that it lacks. The claim as sent stays what is compared."""
    claim, taken = pending.known_zips.complete(_json(pending.claim))
    return repair_and_check(
        claim, pending.facts, at=pending.at, tolerated=(*pending.tolerated, *taken)
    )


def _row(
    pending: PendingClaim,
    judgement: CheckedClaim,
    as_sent: bytes,
    content: bytes,
) -> NewClaim:
    """Return the row of a judged claim.

    The claim as sent is hashed without its id, to recognize repetitions; the claim as repaired is sealed.
    """
    vault, site, form, now, _, claim, known, times, *_ = pending
    accepted, header = judgement.accepted, judgement.header
    claim_number = pending.claim_number or new_number(now)
    payer = known.payer.payer_id if known.payer else ""
    total = _cents(header)
    keys = claim_search.search_keys(vault, site.vendor_id, search_terms(claim))
    return NewClaim(
        claim_number=claim_number,
        kind=form.kind.value,
        form=form.name,
        state=RECEIVED if accepted else NOT_ACCEPTED,
        label=_LABELS[accepted],
        awaits_enrollment=_awaits_enrollment(judgement, known),
        payer_id=payer,
        vendor_claim_hash=claim_search.vendor_claim_hash(
            vault, site.vendor_id, form.kind, header.vendor_claim_id
        ),
        content_hash=content_hash(vault, site, as_sent),
        frequency=header.frequency,
        depends_on_predecessor=accepted and header.frequency == ORIGINAL and form.name != X12,
        replaces_key=_replaces_key(vault, header),
        series_key=_series_key(vault, site, header, payer),
        last_day=header.last_day.isoformat() if header.last_day else None,
        is_cumulative=CUMULATIVE_SERIES in known.edits,
        reference=_reference(vault, header, payer) if accepted else "",
        times=times,
        total_cents=total,
        created_at=to_micros(now),
        created_day=known.today.isoformat(),
        service_day=_service_day(header),
        bill_type=header.billed_as or None,
        payload=vault.seal(site.scope, claims.TABLE, claim_number, content),
        header=seal_header(vault, site.scope, claim_number, header),
        status=_status(vault, header, site, claim_number, total, known.today) if accepted else None,
        account_key=keys.account,
        patient_key=keys.patient,
        name_key=keys.name,
        member_key=keys.member,
    )


def _awaits_enrollment(judgement: CheckedClaim, known: RuleInputs) -> bool:
    """Return whether nothing but a coming enrollment keeps a claim from its payer."""
    if judgement.accepted:
        return known.waits_for_enrollment
    stopping = {one.rule for one in judgement.findings if one.severity is Severity.ERROR}
    return stopping == {ENROLLED_RULE} and known.enrollment in COMING_ENROLLMENTS


def content_hash(vault: Vault, site: Site, content: bytes) -> str:
    """Return the keyed hash of what makes two claims of a site the same."""
    return vault.fingerprint(site.scope, "content", content).hex()


def _replaces_key(vault: Vault, header: ClaimHeader) -> int | None:
    """Return the keyed hash of the payer's number of the claim that a replacement or void names."""
    if header.frequency == ORIGINAL:
        return None
    return claim_search.payer_number_key(vault, header.original_reference)


def _series_key(vault: Vault, site: Site, header: ClaimHeader, payer_id: str) -> int | None:
    """Return the keyed hash of the stay that an institutional claim bills; None of a notice and every other claim."""
    if header.admission is None or header.frequency in NOTICES:
        return None
    patient = (header.member_id, search_name(header.last_name), str(header.birth or ""))
    provider = header.billing_npi or header.billing_tax_id
    return claim_search.series_key(
        vault, site.vendor_id, payer_id, *patient, provider, header.admission.isoformat()
    )


def _service_day(header: ClaimHeader) -> str | None:
    return header.service_day.isoformat() if header.service_day else None


def empty(prepared: PreparedClaim) -> PreparedClaim:
    """Return a prepared claim that takes less memory while its document is prepared and stored."""
    claim = _json(prepared.judgement.claim)
    emptied = fields.keep_field(claim, form_of(claim).id_field)
    return prepared._replace(judgement=prepared.judgement._replace(claim=emptied), is_emptied=True)


def fill(vault: Vault, site: Site, prepared: PreparedClaim) -> PreparedClaim:
    """Return a prepared claim with what it says, from its row if it was emptied."""
    if not prepared.is_emptied:
        return prepared
    row = prepared.row
    content = open_claim_content(
        vault.open(site.scope, claims.TABLE, row.claim_number, row.payload)
    )
    claim = decode.restore_claim(row.form, bytes(content.claim))
    return prepared._replace(judgement=prepared.judgement._replace(claim=claim), is_emptied=False)


def correct_claim(
    vault: Vault, site: Site, prepared: PreparedClaim, correction: Correction
) -> PreparedClaim:
    """Return a prepared claim as its correction goes out, judged again; the claim as sent stays its content hash."""
    judged, row = prepared.judgement, prepared.row
    before = judged.header
    changed: dict[str, str | None] = {}
    if correction.frequency != before.frequency:
        changed["frequency"] = correction.frequency
    if correction.payer_number != before.original_reference:
        changed["original_reference"] = correction.payer_number or None
    facts = replace(prepared.facts, correction=correction.reason)
    judgement = _judge_again(judged, changed, facts, at=prepared.at)
    accepted, header = judgement.accepted, judgement.header
    total = _cents(header)
    row = msgspec.structs.replace(
        row,
        state=RECEIVED if accepted else NOT_ACCEPTED,
        label=_LABELS[accepted],
        replaces_key=_replaces_key(vault, header),
        reference=_reference(vault, header, row.payer_id) if accepted else "",
        total_cents=total,
        service_day=_service_day(header),
        bill_type=header.billed_as or None,
        payload=vault.seal(site.scope, claims.TABLE, row.claim_number, _content(judgement)),
        header=seal_header(vault, site.scope, row.claim_number, header),
        status=_status(vault, header, site, row.claim_number, total, facts.today)
        if accepted
        else None,
    )
    return prepared._replace(facts=facts, judgement=judgement, row=row)


def _judge_again(
    judged: CheckedClaim, changed: Mapping[str, str | None], facts: RuleInputs, *, at: str
) -> CheckedClaim:
    """Return a judged claim with other values by their paths, judged again."""
    if isinstance(judged.claim, X12Claim):
        own = form_of(judged.claim)
        patched = own.with_changes(judged.claim, changed)
        again = check_file_claim(patched, facts, check_claim(patched))
        places = own.view(patched).form
        noted = [
            Repair(places.locate(path), _REPAIRS[value is None]) for path, value in changed.items()
        ]
        return again._replace(repairs=(*judged.repairs, *noted), given=judged.given)
    form = form_of(judged.claim)
    claim = form.with_changes(judged.claim, changed)
    repairs = [
        Repair(form.locate(path), _REPAIRS[value is None]) for path, value in changed.items()
    ]
    findings, view = check(claim, facts, at=at)
    return CheckedClaim(
        claim,
        header_of(view),
        (*judged.repairs, *repairs),
        tuple(findings),
        {**given_values(judged.claim, repairs), **judged.given},
    )


def refuse_row(
    vault: Vault, site: Site, row: NewClaim, findings: Sequence[ClaimFinding]
) -> NewClaim:
    """Return the row of a claim that is not accepted after all, with the findings that say why."""
    opened = vault.open(site.scope, claims.TABLE, row.claim_number, row.payload)
    content = add_findings(opened, findings)
    return msgspec.structs.replace(
        row,
        state=NOT_ACCEPTED,
        label=_LABELS[False],
        awaits_enrollment=False,
        reference="",
        payload=vault.seal(site.scope, claims.TABLE, row.claim_number, content),
        status=None,
    )


# The label of a new claim, by whether it is accepted.
_LABELS = {True: ClaimLabel.RECEIVED.value, False: ClaimLabel.NOT_ACCEPTED.value}
# The kind of repair, by whether the value was removed.
_REPAIRS = {False: SET_FOR_CORRECTION, True: REMOVED_FROM_NEW}


def _reference(vault: Vault, header: ClaimHeader, payer_id: str) -> str:
    """Return the keyed hash of the account number, if it can be CLM01."""
    account = claim_account(header.account_number)
    return account_reference(vault, payer_id, account) if account else ""


def _status(
    vault: Vault, header: ClaimHeader, site: Site, claim_number: str, total: int, today: date
) -> bytes:
    """Return the claim's first status, sealed."""
    status = new_claim_status(
        claim_number=claim_number,
        vendor_claim_id=header.vendor_claim_id,
        total_cents=total,
        day=today,
        frequency=header.frequency,
        has_next_payer=header.has_next_payer,
        notice_due=header.notice_due,
    )
    return vault.seal(site.scope, STATUS_COLUMN, claim_number, encode_claim_status(status))


def _cents(header: ClaimHeader) -> int:
    """Return the charge of a claim; 0 if it is none that an 837 can carry, which no rule accepts."""
    charge = header.charge
    if not (charge.is_finite() and 0 <= charge <= CHARGE_DOLLARS_MAX):
        return 0
    return int(charge.quantize(CENT) * 100)


def _content(judgement: CheckedClaim) -> bytes:
    return encode_claim_content(
        fields.encode(judgement.claim), judgement.repairs, judgement.findings, judgement.given
    )
