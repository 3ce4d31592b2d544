"""What an acknowledgement says of a claim: who says it, with which category, of which day, under which number.

Only a 277CA or 277 of the payer itself shows that the payer has a claim. A 999 is about the form of a file, a TA1 about
its envelope, and a clearinghouse on the way (``NM1*AY``) speaks for itself. Knows X12; knows no claim that was sent.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from clearlane.x12 import codes, views
from clearlane.x12.views.status import StatusLevelView, StatusReportView, StatusSetView
from clearlane.x12.views.verdicts import GroupVerdictView

ANSWER_SOURCE = "277"
"""The source of an answer to a question about a claim, in a file or in real time."""
STATUS_SOURCES = frozenset({"277CA", ANSWER_SOURCE})
PAYER_CLAIM_NUMBER = "1K"
"""REF01 of the payer's own number of a claim."""
PAYER = "PR"
"""NM101 of a payer. Others, such as a clearinghouse (``AY``), speak for themselves."""
NOT_THE_CLAIM = ("A4", "D", "E", "X", "RQ")
"""Categories, or their beginnings, of answers about the inquiry or the system: they do not say that the payer has the claim."""
REJECTED = "rejected"


class ReceiptMeaning(StrEnum):
    """What an acknowledgement shows about receipt by the payer."""

    RECEIVED = "The payer received the claim."
    REJECTED = "The payer received the claim and rejected it."
    NOT_BY_PAYER = (
        "Not proof of payer receipt: it is not the payer who says it, but one on the way."
    )
    FILE_ONLY = "Not proof of payer receipt: it is about the form of a file, not about the claim."
    NOT_FOUND = "Not proof of payer receipt: it does not say that the payer has the claim."


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """One acknowledgement, read."""

    source: str
    meaning: ReceiptMeaning
    by: str = ""
    """The name of who says it."""
    category: str = ""
    category_words: str = ""
    status: str = ""
    status_words: str = ""
    day: date | None = None
    """The day of the status (STC02)."""
    payer_number: str = ""
    message: str = ""

    @property
    def is_proof(self) -> bool:
        """Whether it shows that the payer received the claim."""
        return self.meaning in {ReceiptMeaning.RECEIVED, ReceiptMeaning.REJECTED}


def read_receipt(source: str, part: bytes) -> Receipt:
    """Read the claim's part of an acknowledgement."""
    for interchange in views.read_views(part):
        for one in interchange.sets:
            if isinstance(one.view, StatusSetView):
                return _of_status(source, one.view)
            if isinstance(one.view, GroupVerdictView):
                return Receipt(
                    source=source,
                    meaning=ReceiptMeaning.FILE_ONLY,
                    by=interchange.sender,
                    category=one.view.verdict,
                    category_words=one.view.verdict_words,
                )
        for answer in interchange.answers:
            return Receipt(
                source=source,
                meaning=ReceiptMeaning.FILE_ONLY,
                by=interchange.sender,
                category=answer.verdict,
                category_words=answer.verdict_words,
            )
    return Receipt(source=source, meaning=ReceiptMeaning.NOT_FOUND)


def _of_status(source: str, view: StatusSetView) -> Receipt:
    """Return the receipt of a 277CA or 277. A branch for each part that a payer may leave out."""
    names = [party for tier in view.tiers[:1] for party in tier.parties]
    reports = list(view.claims) or list(_reports(view.tiers))
    found = [one for report in reports for one in report.statuses]
    status = found[0] if found else None
    code = status.codes[0] if status and status.codes else None
    numbers = {ref.qualifier: ref.value for report in reports for ref in report.references}
    category = code.category if code else ""
    return Receipt(
        source=source,
        meaning=_meaning(category, names[0].role if names else ""),
        by=names[0].name if names else "",
        category=category,
        category_words=code.category_words if code else "",
        status=code.status if code else "",
        status_words=code.status_words if code else "",
        day=status.day if status else None,
        payer_number=numbers.get(PAYER_CLAIM_NUMBER, ""),
        message=status.message if status else "",
    )


def _meaning(category: str, role: str) -> ReceiptMeaning:
    if role != PAYER:
        return ReceiptMeaning.NOT_BY_PAYER
    if not category or category.startswith(NOT_THE_CLAIM):
        return ReceiptMeaning.NOT_FOUND
    verdict = codes.load_column("status_categories", 2).get(category, "")
    return ReceiptMeaning.REJECTED if verdict == REJECTED else ReceiptMeaning.RECEIVED


def _reports(tiers: tuple[StatusLevelView, ...]) -> Iterator[StatusReportView]:
    """Yield the reports of every level, the lowest first."""
    for tier in tiers:
        yield from _reports(tier.tiers)
        yield from tier.reports
