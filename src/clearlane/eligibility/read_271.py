"""What came back for a 270: answers patient by patient, or a refusal of the file.

    heard = read(content)
    for answer in heard.answers:                  # one patient each
        trace_of(answer)                          # our trace number, to find the question by
        match(answer, inquiry, trace)             # OURS, WRONG_PATIENT or WRONG_PAYER
        respond(answer, inquiry, ...)             # the element of ``Responses``
    for refusal in heard.refusals:                # TA1 or 999 instead of a 271
        refuse(refusal, inquiry), refusal.status  # elements of ``ErrorResponses``, ``InterchangeStatuses``

A file that holds several patients is cut: each answer has one of them and the levels above. A 999 or TA1 that accepts is no
answer. Content that is no X12 has neither answers nor refusals.

Knows 271s, 999s and TA1s; knows no connection, no store and no clock.
"""

from collections.abc import Iterator
from datetime import datetime
from functools import partial

from msgspec.structs import replace

from clearlane.eligibility import extract, field_mapping, response, response_builder, services
from clearlane.eligibility import refusals as refusals_of
from clearlane.eligibility.field_mapping import Fields
from clearlane.eligibility.inbound import Answer, Heard, Match, Refusal
from clearlane.eligibility.matching import match, may_be_asked_again, trace_of
from clearlane.eligibility.model import ORIGINATOR, Inquiry, Party, Person
from clearlane.eligibility.wire_struct import stamp
from clearlane.kernel.finding import Severity
from clearlane.x12 import grammar, guides, reader, tree, views
from clearlane.x12.tree import element
from clearlane.x12.views import benefits

__all__ = [
    "Answer", "Heard", "Match", "Refusal", "echo", "match", "may_be_asked_again", "read", "refuse",
    "respond", "timestamp", "trace_of", "unreachable",
]  # fmt: skip


def read(content: bytes) -> Heard:
    """The answers and refusals of a file."""
    file = reader.parse(content, check=False, choose=_choose)
    answers: list[Answer] = []
    refusals: list[Refusal] = []
    for interchange in file.interchanges:
        refusals += refusals_of.of_interchange(interchange)
        for set in interchange.sets():
            if set.guide is not None and set.guide.kind == "271":
                answers += _answers(set, content)
            elif set.guide is not None and set.guide.kind == "999":
                refusals += refusals_of.of_group(set)
    return Heard(answers=tuple(answers), refusals=tuple(refusals), readable=bool(file.interchanges))


def respond(
    answer: Answer,
    inquiry: Inquiry | None,
    *,
    document_id: str,
    created: datetime,
    trace: str = "",
    with_x12: bool = False,
) -> response.BenefitResponse:
    """The element of ``Responses``. Levels that the payer left out are told as they were asked about, so that the
    caller finds its own trace number at the patient in every case."""
    asked = inquiry
    payers: tuple[response.Payer, ...] = ()
    if answer.source is not None or asked is not None:
        payers = (_payer(answer, asked, trace),)
    return response.BenefitResponse(
        GroupControlNumber=answer.group or None,
        TradingPartnerId=answer.sender or None,
        Payers=payers,
        EnvelopeErrors=_envelope_errors(answer, asked),
        X12Document=answer.content.decode("latin-1") if with_x12 else None,
        DocumentId=document_id,
        CreateDate=timestamp(created),
        AdditionalInformation=response_builder.leftover(answer.other),
    )


def refuse(
    refusal: Refusal, inquiry: Inquiry | None, *, with_x12: bool = False
) -> response.ErrorResponse:
    """The element of ``ErrorResponses`` for a patient whose inquiry was refused as a file."""
    return response.ErrorResponse(
        Type="TA1" if refusal.kind == "TA1" else "999",
        PayeeTraceNumber=echo(inquiry),
        Errors=refusal.troubles,
        X12Document=refusal.content.decode("latin-1") if with_x12 else None,
    )


def unreachable(inquiry: Inquiry | None, code: str, message: str) -> response.ErrorResponse:
    """The element of ``ErrorResponses`` for a patient whose payer could not be asked."""
    trouble = response.Trouble(
        Code=code, Message=message, Location=inquiry.payer_path if inquiry else None
    )
    return response.ErrorResponse(
        Type="Connection", PayeeTraceNumber=echo(inquiry), Errors=(trouble,)
    )


def echo(inquiry: Inquiry | None) -> response.Trace | None:
    """The caller's trace number as the caller wrote it."""
    if inquiry is None or inquiry.trace is None:
        return None
    trace = inquiry.trace
    return response.Trace(OriginatorID=trace.originator or None, Number=trace.number or None)


def timestamp(moment: datetime) -> str:
    """A moment in the response's form: ISO 8601, UTC."""
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def _choose(transaction: str, version: str) -> grammar.Guide | None:
    """A 271 is read by its guide whatever errata it names: what is told must not be lost."""
    found = guides.by_version(transaction, version)
    return guides.by_kind("271") if found is None and transaction == "271" else found


def _answers(set: tree.Set, content: bytes) -> Iterator[Answer]:
    view = views.view(set)
    assert isinstance(view, benefits.Eligibility), "a 271 has this view"
    group, interchange = set.group, set.group.interchange
    troubles = tuple(_envelope(set))
    patients = list(extract.patients(view))
    alone = len(patients) == 1 and sum(1 for _ in interchange.sets()) == 1
    for nth, spoken in enumerate(patients):
        yield Answer(
            group=group.control,
            sender=element(interchange.header, 6).strip(),
            reference=view.heading.reference if view.heading else "",
            source=spoken.source,
            receiver=spoken.receiver,
            subscriber=spoken.subscriber,
            dependent=spoken.dependent,
            troubles=troubles,
            above=extract.refusals_above(set, spoken.at),
            other=view.other if nth == 0 else (),
            make_content=partial(bytes, content)
            if alone
            else partial(extract.content, set, spoken.at),
        )


def _envelope(set: tree.Set) -> Iterator[response.Trouble]:
    """Faults of the envelope, as far as they concern this set."""
    group, interchange = set.group, set.group.interchange
    for part, location in ((interchange, "ISA"), (group, "GS"), (set, "ST")):
        for finding in part.findings:
            if finding.severity is Severity.ERROR and finding.rule.startswith(_ENVELOPE):
                yield response.Trouble(
                    Code=finding.syntax_error or finding.rule,
                    Message=f"{finding.message}.",
                    Location=location,
                )


def _envelope_errors(answer: Answer, asked: Inquiry | None) -> tuple[response.Trouble, ...] | None:
    """Faults of the envelope, and refusals that stand before the payer is named: those of the whole transaction."""
    above = answer.source.refusals[: answer.above] if answer.source else ()
    told = field_mapping.troubles(above, asked.payer_path if asked else "2000A", {})
    return (*answer.troubles, *(told or ())) or None


_ENVELOPE = ("ISA-", "IEA-", "GS-", "GE-", "ST-", "SE-")


def _payer(answer: Answer, asked: Inquiry | None, trace: str) -> response.Payer:
    location = asked.payer_path if asked else "2100A"
    payees: tuple[response.Payee, ...] = ()
    if answer.receiver is not None or asked is not None:
        payees = (_payee(answer, asked, trace),)
    if answer.source is None:
        assert asked is not None, "the caller has looked"
        return response.Payer(
            **_named(asked.payer, "payer_roles"), PayerId=asked.payer.id, Payees=payees
        )
    own = replace(answer.source, refusals=answer.source.refusals[answer.above :])
    return response_builder.payer(own, payees, location)


def _payee(answer: Answer, asked: Inquiry | None, trace: str) -> response.Payee:
    location = asked.payee_path if asked else "2100B"
    subscribers: tuple[response.Subscriber, ...] = ()
    if answer.subscriber is not None or asked is not None:
        subscribers = (_subscriber(answer, asked, trace),)
    if answer.receiver is None:
        assert asked is not None, "the caller has looked"
        return response.Payee(
            **_named(asked.payee, "payee_roles"),
            NationalProviderId=asked.payee.id,
            Subscribers=subscribers,
        )
    return response_builder.payee(answer.receiver, subscribers, location)


def _subscriber(answer: Answer, asked: Inquiry | None, trace: str) -> response.Subscriber:
    location = asked.subscriber_path if asked else "2100C"
    dependents: tuple[response.Dependent, ...] = ()
    if answer.dependent is not None:
        where = asked.path if asked and asked.dependent else "2100D"
        dependents = (response_builder.dependent(answer.dependent, where, _known(asked, trace)),)
    elif asked is not None and asked.dependent and not answer.subscriber:
        traces = _known(asked, trace)
        dependents = (response.Dependent(**_told(asked.dependent), **traces, IsInsured=False),)
    # The trace numbers stand at the patient, once.
    traces = {} if dependents else _known(asked, trace)
    if answer.subscriber is None:
        assert asked is not None, "the caller has looked"
        return response.Subscriber(
            **_told(asked.subscriber),
            **traces,
            IsInsured=True,
            MemberId=asked.member_id,
            Dependents=dependents or None,
        )
    return response_builder.subscriber(answer.subscriber, dependents, location, traces)


def _known(asked: Inquiry | None, trace: str) -> Fields:
    """The trace numbers that are known without the file."""
    found: Fields = {}
    if trace:
        found["ClearinghouseTraceNumber"] = response.Trace(OriginatorID=ORIGINATOR, Number=trace)
    given = echo(asked)
    if given is not None:
        found["PayeeTraceNumber"] = given
    return found


def _named(party: Party, roles: str) -> Fields:
    return {
        "Type": services.name(roles, party.role),
        "EntityType": services.name("entity_types", party.kind),
        "CommonName": party.name,
        "FirstName": party.first or None,
    }


def _told(person: Person) -> Fields:
    return {
        "EntityType": "Individual",
        "CommonName": person.last or None,
        "FirstName": person.first or None,
        "BirthDate": stamp(person.birth) if person.birth else None,
        "Gender": services.name("genders", person.sex) or None,
    }
