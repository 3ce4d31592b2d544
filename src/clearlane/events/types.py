"""The types of events: a table of names, audiences and meanings.

matching_types(["claim.*", "ping"])        # the types that a subscription asks for
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple


class Audience(StrEnum):
    """Who receives an event."""

    SITE = "site"
    """The vendor of one site."""
    VENDOR = "vendor"
    """One vendor, for no site in particular."""
    EVERY_VENDOR = "every vendor"
    OPERATORS = "operators"


class EventType(NamedTuple):
    """A type of event: a row of the table."""

    name: str
    audience: Audience
    meaning: str
    """What happened, in a sentence for the reference."""


_SITE, _VENDOR, _EVERY, _OPERATORS = Audience

_ROWS = (
    EventType(
        "claim.received",
        _SITE,
        "A claim was accepted and waits to be sent; for a secondary claim, `data.prior_payer_claim` is that of the "
        "earlier payer.",
    ),
    EventType(
        "claim.not_accepted",
        _SITE,
        "Clearlane did not accept a claim: it is not sent. Its findings say what would pass.",
    ),
    EventType("claim.held", _SITE, "A claim is kept back."),
    EventType("claim.released", _SITE, "A claim that was kept back waits to be sent again."),
    EventType("claim.canceled", _SITE, "A claim was taken back before it was sent."),
    EventType("claim.sent", _SITE, "The payer has the file with the claim."),
    EventType("claim.acknowledged", _SITE, "The payer's system accepted the claim."),
    EventType(
        "claim.rejected",
        _SITE,
        "A payer rejected a claim before deciding on it; `data.by` says by what: ta1, 999, 277ca or 277.",
    ),
    EventType("claim.pending", _SITE, "The payer is deciding on the claim."),
    EventType("claim.information_requested", _SITE, "The payer waits for more information."),
    EventType("claim.paid", _SITE, "The payer decided: it pays, or nothing is due from anyone."),
    EventType("claim.denied", _SITE, "The payer denied the claim."),
    EventType("claim.partly_denied", _SITE, "The payer pays, and denied at least one line."),
    EventType("claim.patient_owes", _SITE, "The payer pays nothing; the patient owes the rest."),
    EventType("claim.reversed", _SITE, "An earlier payment of the claim was taken back."),
    EventType(
        "claim.forwarded",
        _SITE,
        "The payer passed the claim on to the next payer. What it paid or denied is an event of its own.",
    ),
    EventType(
        "claim.secondary_ready",
        _SITE,
        "The payer decided, and the claim for the next payer is drafted: `data.payer_id`, and the fields that must be "
        "known before it can be sent in `data.questions`.",
    ),
    EventType(
        "claim.secondary_withdrawn",
        _SITE,
        "The payer took its decision back, or another one answered, so the next payer is not to be billed.",
    ),
    EventType(
        "claim.secondary_to_correct",
        _SITE,
        "The payer changed its decision after the next payer was billed: `data.secondary_claim` is to be corrected, or what "
        "was paid for it refunded.",
    ),
    EventType("claim.predetermined", _SITE, "The payer answered a predetermination."),
    EventType(
        "claim.corrected",
        _SITE,
        "Another claim takes its place: `data.successor`, with the names of the changed fields. It comes again with "
        "`data.label` replaced once the payer has decided on that one.",
    ),
    EventType(
        "claim.voided",
        _SITE,
        "The payer canceled a claim as a void asked. The void has this event, and so has the claim that it cancels.",
    ),
    EventType(
        "claim.overdue",
        _SITE,
        "What a claim awaits did not come in time; `step` says what is done about it.",
    ),
    EventType(
        "claim.filing_limit_near",
        _SITE,
        "A claim that its payer has not received, or denied, must be filed or appealed by `data.file_by`; it comes 30, 14 and "
        "3 days before (`data.stage`), each once and in this order.",
    ),
    EventType(
        "claim.asked",
        _SITE,
        "The payer was asked about the claim (276); `data.keys` says by what the claim is searched.",
    ),
    EventType(
        "claim.answered",
        _SITE,
        "A question about the claim ended: `data.result` says what the payer answered, or `failed`.",
    ),
    EventType("claim.no_answer", _SITE, "The payer has not answered for too long."),
    EventType("claim.in_doubt", _SITE, "Whether the payer has the claim cannot be known yet."),
    EventType("payment.received", _SITE, "A payment with claims of the site was recorded."),
    EventType("payment.matched", _SITE, "A claim of a payment found its claim later."),
    EventType("payment.unmatched", _OPERATORS, "A payment has claims that match none of ours."),
    EventType("payment.unbalanced", _SITE, "The sums of a payment do not add up."),
    EventType(
        "payment.deposited",
        _SITE,
        "A site deposited its part of a payment; `data.deposit` is `deposited` or, if the amount is another, `differs`.",
    ),
    EventType("payment.duplicate", _SITE, "The same payment came again, and counts once."),
    EventType(
        "eligibility.completed",
        _SITE,
        "The payer answered an eligibility request; `data.late`: after its call had ended.",
    ),
    EventType("eligibility.failed", _SITE, "An eligibility request ended without an answer."),
    EventType("enrollment.submitted", _SITE, "A provider was sent to be enrolled with payers."),
    EventType(
        "enrollment.approved",
        _SITE,
        "The payer approved an enrollment for `data.transaction`: it counts from `data.live_from` on.",
    ),
    EventType(
        "enrollment.refused", _SITE, "The payer refused an enrollment for `data.transaction`."
    ),
    EventType("enrollment.ended", _SITE, "The payer ended an enrollment for `data.transaction`."),
    EventType("document.created", _SITE, "A payer's document about a claim can be fetched."),
    EventType("file.received", _SITE, "All of a file that the site sent is stored."),
    EventType(
        "file.processed",
        _SITE,
        "It is known what became of a file: `data.state`, and how many of its claims were accepted.",
    ),
    EventType(
        "file.ready",
        _SITE,
        "A file can be fetched: `data.type` says what it is, and `data.answers` which file it answers.",
    ),
    EventType("payer.added", _EVERY, "A payer can be reached."),
    EventType("payer.changed", _EVERY, "What a payer offers changed."),
    EventType("payer.removed", _EVERY, "A payer can no longer be reached."),
    EventType(
        "webhook.disabled", _VENDOR, "A webhook endpoint failed for too long, or was disabled."
    ),
    EventType("baa.accepted", _SITE, "The business associate agreement of a site was accepted."),
    EventType("ping", _VENDOR, "A test of a webhook endpoint."),
    EventType("route.down", _OPERATORS, "A payer's route fails."),
    EventType("route.up", _OPERATORS, "A payer's route works again."),
)

TYPES: dict[str, EventType] = {row.name: row for row in _ROWS}
EVERYTHING = "*"
FAMILY_SUFFIX = ".*"
FAMILIES = tuple(dict.fromkeys(name.partition(".")[0] for name in TYPES if "." in name))


def unknown_patterns(patterns: Iterable[str]) -> list[str]:
    """Return the patterns that match no type: neither a type, a family such as ``claim.*``, nor ``*``."""
    return [one for one in patterns if not _matching(one)]


def matching_types(patterns: Iterable[str]) -> frozenset[str]:
    """Return the names of the types that these patterns ask for; none ask for all."""
    wanted = list(patterns) or [EVERYTHING]
    return frozenset(name for one in wanted for name in _matching(one))


def is_for_vendors(name: str) -> bool:
    """Return whether vendors receive events of this type."""
    return TYPES[name].audience is not Audience.OPERATORS


def _matching(pattern: str) -> list[str]:
    if pattern == EVERYTHING:
        return list(TYPES)
    family = pattern.removesuffix(FAMILY_SUFFIX)
    if family != pattern:
        return [name for name in TYPES if name.startswith(f"{family}.")]
    return [pattern] if pattern in TYPES else []
