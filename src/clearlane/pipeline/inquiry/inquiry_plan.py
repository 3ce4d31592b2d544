"""Plan the inquiries of a sender's own file, and write the answer about each in the sender's terms.

    plan = await plan_inquiries(sender, context, site, sent, realtime=True)      # sender: a row of ``sender_transactions``
    id = await ask(context, sender.transaction, list(plan.inquiries.values()), sender.validation_results(plan), ...)
    chains = sender.answer_levels(plan, await results_by_path(answers), today)   # for ``sender.write_answer``

In real time and for files. A plan is a value that is stored with a file until its answers are written. The transaction's own
part is a ``SenderTransaction``.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import msgspec

from clearlane.accounts.model import Site
from clearlane.claims.inquiry.read_276 import SentQuestion
from clearlane.claims.inquiry.status_inquiry import StatusInquiry
from clearlane.eligibility.build_inquiry import choose_payer
from clearlane.eligibility.model import Inquiry
from clearlane.eligibility.read_270 import SentPatient
from clearlane.inquiry.inquiry_result import (
    CONNECTION,
    InquiryPayload,
    InquiryResult,
    ValidationResult,
)
from clearlane.inquiry.sender_levels import Level
from clearlane.inquiry.sent_inquiry import Refusal, SentInquiry
from clearlane.kernel.redacted_repr import shows
from clearlane.payers.enrolled_transactions import EnrolledTransaction
from clearlane.payers.model import Payer
from clearlane.pipeline.enrollment.inquiry_enrollment import load_inquiry_enrollments
from clearlane.pipeline.inquiry.eligibility_request import PayerFinder
from clearlane.pipeline.inquiry.inquiry_transaction import InquiryTransaction, V
from clearlane.pipeline.inquiry.request_answers import RequestAnswers
from clearlane.pipeline.payer_lookup import load_sender_payers
from clearlane.pipeline.route_connections import inquiry_connections, takes_inquiries
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Tx
from clearlane.x12 import tree
from clearlane.x12.tree import get_element
from clearlane.x12.writer.writer import Envelope

S = TypeVar("S", bound=SentInquiry)
P = TypeVar("P", bound=InquiryPayload)

REASONS = {
    Refusal.PAYER_UNKNOWN: "There is no payer with this id.",
    Refusal.PAYER_NOT_ASKED: "The payer takes no inquiries of this kind, or none in real time.",
    Refusal.OTHER_PROVIDER: "The provider bills through another site. A site asks about its own providers only.",
    Refusal.NOT_ENROLLED: "The payer answers enrolled providers only, and the provider is not enrolled.",
    Refusal.TOO_MANY: "There are more inquiries than real time takes.",
}


@shows()
class InquiryPlan(msgspec.Struct, Generic[S, P], frozen=True):
    """Inquiries of a sender's set, and by their paths who is asked, or why no one is."""

    sent: tuple[S, ...]
    inquiries: dict[str, P]
    refusals: dict[str, Refusal]
    reasons: dict[str, str] = {}
    """Sentences about refusals that say more than their kind does."""

    def reason(self, path: str) -> str:
        """Return why an inquiry has no answer of a payer."""
        return self.reasons.get(path) or REASONS[self.refusals[path]]

    def not_asked(self) -> Iterator[str]:
        """Yield a sentence about each that is not asked: its place in the file, the sender's trace, and why."""
        for one in self.sent:
            if one.path in self.refusals:
                traces = ", ".join(get_element(trace, 2) for trace in one.traces)
                trace = f", trace number {traces}" if traces else ""
                place = one.path.replace("s[", " ").rstrip("]")
                yield f"{place}{trace}, payer {one.payer_id or 'not named'}: {self.reason(one.path)}"


@shows()
class PatientPlan(InquiryPlan[SentPatient, Inquiry], frozen=True, tag="270"):
    """The patients of a 270."""


@shows()
class ClaimPlan(InquiryPlan[SentQuestion, StatusInquiry], frozen=True, tag="276"):
    """The claims of a 276."""


StoredPlan: TypeAlias = PatientPlan | ClaimPlan
BuildInquiry: TypeAlias = Callable[[S, Payer], P | Refusal]
"""Returns the inquiry to a payer that can be reached, or why it is not asked."""


class SentUnitReader(Protocol):
    """Reads the inquiries of a set, subscriber by subscriber."""

    @property
    def of_subscriber(self) -> Callable[..., Iterator[Any]]:
        """Yields the inquiries about a subscriber, whose level is the last of those that it takes."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderTransaction(Generic[S, P, V]):
    """How the inquiries of a sender's own file are read, asked and answered."""

    transaction: InquiryTransaction[P, Any, V]
    plan: type[InquiryPlan[S, P]]
    above: tuple[str, ...]
    """The levels above a subscriber."""
    reader: Callable[[tree.TransactionSet], SentUnitReader]
    read_all: Callable[[tree.TransactionSet], list[S]]
    """Returns the inquiries of a set that was read as a whole."""
    offers: Callable[[Payer], bool]
    """Whether the directory lets the payer be asked."""
    is_dental: Callable[[S], bool]
    enrollment: EnrolledTransaction
    """What some payers want a provider enrolled for."""
    providers: Callable[[S], Collection[str]]
    """The numbers of the provider who asks."""
    prepare: Callable[[WorkContext, Site, Sequence[S]], Awaitable[BuildInquiry[S, P]]]
    """Loads what some inquiries need, and returns what builds each of them."""
    note: Callable[[Tx, Site, Sequence[P], int], Awaitable[None]]
    """Notes that payers are asked, in the transaction that stores the inquiries."""
    answered: Callable[[S, bytes, date], list[Level]]
    refused: Callable[[S, Refusal, date], list[Level]]
    code: Callable[[Refusal], str]
    """Returns the code of a refusal in the answer."""
    write_answer: Callable[[Envelope, str, Iterable[Sequence[Level]]], bytes]

    def validation_results(self, plan: InquiryPlan[S, P]) -> list[ValidationResult]:
        """Return why some of a plan are not asked, as it is stored with the request."""
        return [
            ValidationResult(location=path, code=self.code(refusal), message=plan.reason(path))
            for path, refusal in plan.refusals.items()
        ]

    def answer_levels(
        self, plan: InquiryPlan[S, P], results: Mapping[str, InquiryResult[V]], today: date
    ) -> Iterator[list[Level]]:
        """Yield what the answer says of each inquiry; one without a result may be asked again."""
        for one in plan.sent:
            yield self._levels(plan, one, results.get(one.path), today)

    def _levels(
        self, plan: InquiryPlan[S, P], one: S, result: InquiryResult[V] | None, today: date
    ) -> list[Level]:
        if one.path in plan.refusals:
            return self.refused(one, plan.refusals[one.path], today)
        if result is not None and result.answer is not None:
            return self.answered(one, result.x12, today)
        error = result.error if result is not None else None
        of_file = error is not None and error.kind != CONNECTION
        return self.refused(one, Refusal.NOT_TAKEN if of_file else Refusal.NO_ANSWER, today)


AnySender: TypeAlias = SenderTransaction[Any, Any, Any]


async def plan_inquiries(
    sender: AnySender,
    context: WorkContext,
    site: Site,
    sent: Sequence[SentInquiry],
    *,
    realtime: bool,
) -> InquiryPlan[Any, Any]:
    """Return who is asked. In real time only payers with a connection for that are asked."""
    payers = await load_sender_payers(
        context.database,
        context.payer_access.payers(),
        site.scope,
        {one.payer_id for one in sent},
    )
    connections = context.payer_access.connections()

    def can_reach(type: str, payer_id: str) -> bool:
        wanted = (connections, type, payer_id, sender.transaction.inquiry_set)
        in_real_time = bool(inquiry_connections(*wanted))
        return in_real_time if realtime else takes_inquiries(*wanted)

    find = PayerFinder(payers.find, can_reach).find
    build = await sender.prepare(context, site, sent)
    chosen = [
        choose_payer(
            one.payer_id,
            find,
            dental=sender.is_dental(one),
            test=context.sandbox,
            offers=sender.offers,
        )
        for one in sent
    ]
    pairs = list(zip(sent, chosen, strict=True))
    enrolled = await load_inquiry_enrollments(
        context,
        site,
        sender.enrollment,
        ((payer, sender.providers(one)) for one, payer in pairs if payer is not None),
        context.clock.now(),
    )
    inquiries: dict[str, Any] = {}
    refusals: dict[str, Refusal] = {}
    reasons: dict[str, str] = {}
    for one, payer in pairs:
        if payer is None or not payer.active:
            found = Refusal.PAYER_UNKNOWN
        elif not (sender.offers(payer) and payer.has_route):
            found = Refusal.PAYER_NOT_ASKED
        elif why := enrolled.why_not_asked(payer, sender.providers(one)):
            found, reasons[one.path] = Refusal.NOT_ENROLLED, why
        else:
            found = build(one, payer)
        of = refusals if isinstance(found, Refusal) else inquiries
        of[one.path] = found
    return sender.plan(tuple(sent), inquiries, refusals, reasons)


def refuse_all(
    sender: AnySender, sent: Sequence[SentInquiry], refusal: Refusal
) -> InquiryPlan[Any, Any]:
    """Return a plan that asks no one."""
    return sender.plan(tuple(sent), {}, {one.path: refusal for one in sent})


async def results_by_path(answers: RequestAnswers[Any]) -> dict[str, InquiryResult[Any]]:
    """Return the results of a request by the paths of its inquiries."""
    found: dict[str, InquiryResult[Any]] = {}
    for pages in (answers.answered, answers.refused):
        async for page in pages:
            for result in page:
                part = result.answer or result.error
                if part is not None:
                    found[part.path] = result
    return found
