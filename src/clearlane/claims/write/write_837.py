"""Write claims as an 837: envelope, sets and hierarchical levels around the placement tables of a form.

    pieces = write_claims(outgoing, envelope, submitter, receiver)

Claims of one billing provider share one billing level; a set holds at most 5,000 claims, an interchange as many
sets as needed. ``CLM01`` is the patient's account number if ``account_as_number`` allows it, else the
clearinghouse's claim number, which is always ``REF*D9``; every line has a ``REF*6R``.

Knows the tables and the levels of an 837; knows no clock, no control number and no route.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from clearlane.claims.fields import Claim
from clearlane.claims.forms import AnyForm, form_of
from clearlane.claims.write.claim_context import ClaimContext, LineContext, OutgoingClaim
from clearlane.claims.write.line_controls import line_controls
from clearlane.kernel import limits
from clearlane.x12.writer.writer import Envelope, clean, format_segment, wrap_sets

__all__ = [
    "Envelope",
    "OutgoingClaim",
    "TradingPartner",
    "account_of",
    "write_claims",
]  # fmt: skip

CLAIM_NUMBER_CHARACTERS_MAX = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TradingPartner:
    """A submitter (1000A, with a contact) or receiver (1000B, without)."""

    name: str
    id: str
    contact: str = ""
    """The contact person, if that is not the partner itself."""
    phone: str = ""
    email: str = ""


def write_claims(
    claims: Sequence[OutgoingClaim],
    envelope: Envelope,
    submitter: TradingPartner,
    receiver: TradingPartner,
) -> Iterator[bytes]:
    """Write an interchange with these claims, piece by piece.

    Raises ValueError for an envelope that cannot be written, claims of several kinds, or no claim at all.
    """
    if not claims:
        raise ValueError("an interchange needs at least one claim")
    form = form_of(claims[0].claim)
    if any(form_of(out.claim) is not form for out in claims):
        raise ValueError(f"every claim must be a {form.kind} claim")
    other_separators = {
        code: " " for code in envelope.delimiters.to_canonical() if chr(code) not in "*:^~"
    }

    def bodies() -> Iterator[Iterable[str]]:
        for number, part in enumerate(_parts(claims, limits.CLAIMS_PER_SET_MAX), 1):
            texts = [*_header(envelope, number, submitter, receiver), *_levels(form, part)]
            # The texts are free of the usual separators; a payer's own must be taken out as well.
            if other_separators:
                texts = [text.translate(other_separators) for text in texts]
            yield texts

    return wrap_sets(envelope, form.placements.guide, bodies())


def claim_account(account: str | None) -> str | None:
    """Return a patient's account number if it can be CLM01: given, and at most 20 characters long."""
    return account if account and len(account) <= CLAIM_NUMBER_CHARACTERS_MAX else None


def account_of(claim: Claim) -> str | None:
    """Return the patient's account number of a claim if it can be CLM01."""
    return claim_account(form_of(claim).value(claim, "account_number"))


def context_of(out: OutgoingClaim) -> ClaimContext:
    """Return the context in which the tables of its form write a claim."""
    return ClaimContext(out, form_of(out.claim))


def claim_segments(context: ClaimContext, hl: int, parent: int) -> tuple[list[str], int]:
    """Return the segments of one claim below its billing level, and the number of the next level."""
    tables, out = context.form.placements, context.outgoing
    own = context.patient_is_insured
    texts = [
        tables.subscriber.text(context, hl=str(hl), parent=str(parent), child="0" if own else "1")
    ]
    if not own:
        texts.append(tables.patient.text(context, hl=str(hl + 1), parent=str(hl)))
        hl += 1
    values = tables.claim.values(context)
    values["number"] = (account_of(out.claim) if out.account_as_number else None) or out.number
    values["trace"] = out.number
    texts.append(tables.claim.placement.text(values))
    if has_other_payer(context):
        texts.append(tables.other.text(context))
    controls = line_controls(out.claim, out.number)
    for number, line in enumerate(line_contexts(context, values[tables.place])):
        values = tables.line.values(line)
        values["line"] = str(number + 1)
        values["control"] = controls[number]
        texts.append(tables.line.placement.text(values))
    return texts, hl + 1


def has_other_payer(context: ClaimContext) -> bool:
    """Return whether the claim names another payer."""
    return bool(context.decision) or context.form.has_other_insurance(context.claim)


def line_contexts(context: ClaimContext, place: str) -> list[LineContext]:
    """Return the contexts of a claim's lines."""
    nothing = (None,) * len(context.lines)
    decisions = context.decision.lines if context.decision else nothing
    remaining = context.remaining.lines if context.remaining else nothing
    return [
        LineContext(line, shape, context, place, decision, owed)
        for line, shape, decision, owed in zip(
            context.lines, context.line_shapes, decisions, remaining, strict=True
        )
    ]


def _levels(form: AnyForm, claims: Sequence[OutgoingClaim]) -> Iterator[str]:
    """Yield every billing provider with its subscribers, the levels numbered through the set."""
    tables = form.placements
    groups: dict[tuple[Any, ...], list[ClaimContext]] = {}
    for out in claims:
        context = ClaimContext(out, form)
        groups.setdefault(tuple(tables.billing.values(context).items()), []).append(context)
    hl = 1
    for contexts in groups.values():
        parent = hl
        yield tables.billing.text(contexts[0], hl=str(parent))
        hl += 1
        for context in contexts:
            texts, hl = claim_segments(context, hl, parent)
            yield from texts


def _header(
    envelope: Envelope, number: int, submitter: TradingPartner, receiver: TradingPartner
) -> Iterator[str]:
    """Yield BHT, 1000A and 1000B."""
    moment = envelope.moment
    reference = f"{envelope.control:09}{number:04}"
    numbers: list[str] = []
    for qualifier, text in (("TE", submitter.phone), ("EM", submitter.email)):
        numbers += [qualifier, clean(text)[0]] if text else []
    if not numbers:
        raise ValueError("the submitter needs a telephone number or an e-mail address")
    names = [clean(party.name)[0] for party in (submitter, receiver)]
    rows = (
        ("BHT", "0019", "00", reference, moment.date(), f"{moment:%H%M}", "CH"),
        ("NM1", "41", "2", names[0], "", "", "", "", "46", clean(submitter.id)[0]),
        ("PER", "IC", clean(submitter.contact)[0], *numbers),
        ("NM1", "40", "2", names[1], "", "", "", "", "46", clean(receiver.id)[0]),
    )
    for row in rows:
        yield "*".join(format_segment(*row))


def _parts(claims: Sequence[OutgoingClaim], size: int) -> Iterator[list[OutgoingClaim]]:
    rest = iter(claims)
    while part := list(islice(rest, size)):
        yield part
