"""Write claims as an 837: envelope, sets and hierarchical levels around the placement tables of a form.

    pieces = write_claims(outgoing, envelope, submitter, receiver)

Claims of one billing provider share one billing level; a set holds at most 5,000 claims, an interchange as many
sets as needed. ``CLM01`` is the patient's account number if ``account_as_number`` allows it, else the
clearinghouse's claim number, which is always ``REF*D9``; every line has a ``REF*6R``.

Knows the tables and the levels of an 837; knows no clock, no control number and no route.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from clearlane.claims.fields import Claim
from clearlane.claims.forms import form_of
from clearlane.claims.kinds import KINDS
from clearlane.claims.write.claim_context import ClaimContext, OutgoingClaim, line_contexts
from clearlane.claims.write.line_controls import line_controls
from clearlane.claims.write.write_x12 import choose_delimiters, file_levels
from clearlane.claims.x12_claim import X12Claim
from clearlane.kernel import limits
from clearlane.x12.guides import by_kind
from clearlane.x12.tree import get_element
from clearlane.x12.writer.writer import Envelope, clean, format_segment, wrap_sets

__all__ = [
    "Envelope",
    "OutgoingClaim",
    "TradingPartner",
    "account_of",
    "write_claims",
]  # fmt: skip

CLAIM_NUMBER_CHARACTERS_MAX = 20
CHARGEABLE = "CH"
"""BHT06 of claims that are to be paid."""


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
    """Write an interchange with these claims, piece by piece: those that came as JSON, and those of senders' files.

    A set has claims of one type (BHT06). Raises ValueError for an envelope that cannot be written, claims of several
    kinds, or no claim at all.
    """
    if not claims:
        raise ValueError("an interchange needs at least one claim")
    kind = form_of(claims[0].claim).kind
    if any(form_of(out.claim).kind is not kind for out in claims):
        raise ValueError(f"every claim must be a {kind} claim")
    envelope = replace(envelope, delimiters=choose_delimiters(claims, envelope.delimiters))
    other_separators = {
        code: " " for code in envelope.delimiters.to_canonical() if chr(code) not in "*:^~"
    }

    def bodies() -> Iterator[Iterable[str]]:
        for number, part in enumerate(_parts(claims, limits.CLAIMS_PER_SET_MAX), 1):
            of_files = [out for out in part if isinstance(out.claim, X12Claim)]
            written = [out for out in part if not isinstance(out.claim, X12Claim)]
            texts = [*_header(envelope, number, claim_type(part[0]), submitter, receiver)]
            levels, next_level = _levels(written)
            texts += levels
            # The texts are free of the usual separators; a payer's own must be taken out as well.
            if other_separators:
                texts = [text.translate(other_separators) for text in texts]
            yield [*texts, *file_levels(of_files, next_level, envelope.delimiters)]

    guide = by_kind(KINDS[kind].file_tag)
    return wrap_sets(envelope, guide, bodies(), is_exact=True)


def claim_type(out: OutgoingClaim) -> str:
    """Return BHT06 of the set that a claim goes out in."""
    return out.claim.claim_type if isinstance(out.claim, X12Claim) else CHARGEABLE


def claim_account(account: str | None) -> str | None:
    """Return a patient's account number if it can be CLM01: given, and at most 20 characters long."""
    return account if account and len(account) <= CLAIM_NUMBER_CHARACTERS_MAX else None


def account_of(claim: Claim) -> str | None:
    """Return the patient's account number of a claim if it can be CLM01."""
    if isinstance(claim, X12Claim):  # its view would cost more than to write it
        first, _, _ = claim.parts[-1].text.partition("~")
        return claim_account(get_element(first.split("*"), 1))
    return claim_account(form_of(claim).value(claim, "account_number"))


def context_of(out: OutgoingClaim) -> ClaimContext:
    """Return the context in which the tables of its form write a claim."""
    claim = out.claim
    assert not isinstance(claim, X12Claim), "claims of files are written from their segments"
    return ClaimContext(out, form_of(claim))


def claim_segments(context: ClaimContext, hl: int, parent: int) -> tuple[str, int]:
    """Return the segments of one claim below its billing level, and the number of the next level."""
    tables, out = context.tables, context.outgoing
    if context.patient_is_insured:
        texts = [tables.subscriber.text(context, str(hl), str(parent), "0")]
    else:
        texts = [
            tables.subscriber.text(context, str(hl), str(parent), "1"),
            tables.patient.text(context, str(hl + 1), str(hl)),
        ]
        hl += 1
    account = context.form.value(context.claim, "account_number") if out.account_as_number else None
    texts.append(tables.claim.text(context, claim_account(account) or out.number, out.number))
    if context.others:
        texts += [tables.other.text(other) for other in context.others]
    elif has_other_payer(context):
        texts.append(tables.other.text(context))
    lines = zip(line_contexts(context), line_controls(out.claim, out.number), strict=True)
    write = tables.line.text
    texts += [write(line, str(line.at + 1), control) for line, control in lines]
    return "~".join(texts), hl + 1


def has_other_payer(context: ClaimContext) -> bool:
    """Return whether the claim names another payer."""
    return bool(context.decision) or context.form.has_other_insurance(context.claim)


def _levels(claims: Sequence[OutgoingClaim]) -> tuple[list[str], int]:
    """Return every billing provider with its subscribers, the levels numbered through the set, and the next number."""
    groups: dict[str, list[ClaimContext]] = {}
    for out in claims:
        context = context_of(out)
        billing = context.tables.billing.text(context, "")
        groups.setdefault(billing, []).append(context)
    texts: list[str] = []
    hl = 1
    for contexts in groups.values():
        parent = hl
        texts.append(contexts[0].tables.billing.text(contexts[0], str(parent)))
        hl += 1
        for context in contexts:
            own, hl = claim_segments(context, hl, parent)
            texts.append(own)
    return texts, hl


def _header(
    envelope: Envelope,
    number: int,
    type: str,
    submitter: TradingPartner,
    receiver: TradingPartner,
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
        ("BHT", "0019", "00", reference, moment.date(), f"{moment:%H%M}", type),
        ("NM1", "41", "2", names[0], "", "", "", "", "46", clean(submitter.id)[0]),
        ("PER", "IC", clean(submitter.contact)[0], *numbers),
        ("NM1", "40", "2", names[1], "", "", "", "", "46", clean(receiver.id)[0]),
    )
    for row in rows:
        yield "*".join(format_segment(*row))


def _parts(claims: Sequence[OutgoingClaim], size: int) -> Iterator[list[OutgoingClaim]]:
    """Yield the claims of each set: of one type, and no more than a set may hold."""
    by_type: dict[str, list[OutgoingClaim]] = {}
    for out in claims:
        by_type.setdefault(claim_type(out), []).append(out)
    for own in by_type.values():
        for start in range(0, len(own), size):
            yield own[start : start + size]
