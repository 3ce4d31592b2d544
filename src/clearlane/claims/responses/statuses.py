"""Read 277CA and 277 into facts: the status of each claim, and rejected levels for all claims below.

Knows status loops and the layout of what was sent; knows no field, no database and no clock.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date

from msgspec.structs import replace

from clearlane.claims.responses.ack_messages import (
    ClaimStatusReport,
    InterchangeReference,
    LevelRejection,
    key_of,
    position_in_file,
    same_number,
)
from clearlane.claims.responses.facts import (
    ClaimKey,
    ClaimStatusCode,
    Complaint,
    Fact,
    FactKind,
    StatusVerdict,
)
from clearlane.claims.write.sent_layout import SentLayout
from clearlane.x12 import codes, tree
from clearlane.x12.reader import reader
from clearlane.x12.reader.envelope_time import read_control_number, read_group_time
from clearlane.x12.views import status as statuses
from clearlane.x12.views.original import SeparatorRestorer

STATUS_TRANSACTIONS = frozenset({"277CA", "277"})
CLAIM_LOOPS = ("2200D", "2200E")
CLEARINGHOUSE = "AY"
"""NM101 of a source that is not the payer."""
LEVELS = {"2200B": "receiver", "2200C": "provider"}

WEIGHT = {
    StatusVerdict.NOTED: 0,
    StatusVerdict.ACCEPTED: 1,
    StatusVerdict.PENDING: 2,
    StatusVerdict.REJECTED: 3,
}
# Categories of a 277 that concern the inquiry, not the claim.
ABOUT_THE_INQUIRY = frozenset({"A4", "D0", "E0", "E1", "E2", "E3", "E4"})
# The verdict of a category by its first letter, if the code list has none: a finalized claim stays pending
# until its remittance arrives.
BY_LETTER = {"P": StatusVerdict.PENDING, "F": StatusVerdict.PENDING, "R": StatusVerdict.PENDING}
BY_ACTION = {"U": StatusVerdict.REJECTED, "WQ": StatusVerdict.ACCEPTED}
MESSAGES = frozenset({"X0", "RQ"})


class StatusReader:
    """Reader of one 277CA or 277 set, unit by unit."""

    def __init__(self, status_set: tree.TransactionSet, kind: str) -> None:
        self._set = status_set
        self._kind = kind
        self._originals = SeparatorRestorer(status_set.group.interchange.delimiters)
        self._levels: dict[int, tuple[tree.Loop, tuple[statuses.StatusReportView, ...]]] = {}
        self._named: set[int] = set()
        """The positions of the levels that name claims."""

    def claims(self, unit: reader.UnitClosed) -> Iterator[ClaimStatusReport]:
        """Yield the statuses of a patient's claims."""
        self._named.update(parent.position for parent in unit.parents)
        above = [one for parent in unit.parents for one in self._rejections(parent)]
        for loop in unit.loop.descendants(*CLAIM_LOOPS):
            report = self._originals.restore(statuses.REPORT(loop))
            fact = self._fact(report, loop.position, "claim", above, unit.parents)
            source = self._source(unit.parents)
            batch = next((one for up in unit.parents for one in up.loops("2200B")), None)
            yield ClaimStatusReport(
                fact=fact,
                unit=unit,
                source_id=source.value("NM1", 9) if source else "",
                batch_number=batch.value("TRN", 2) if batch else "",
            )

    def level(self, closed: reader.ParentClosed) -> Iterator[LevelRejection]:
        """Yield the rejections of a whole level; none if claims below it were named, which have it in their facts."""
        if closed.loop.position in self._named:
            return
        for loop in closed.loop.loops(*LEVELS):
            report = self._originals.restore(statuses.REPORT(loop))
            if not self._rejects(report):
                continue
            level = LEVELS[loop.node.id]
            around = (*closed.parents, closed.loop)
            fact = self._fact(report, closed.loop.position, level, (), around)
            batch = loop if level == "receiver" else closed.parents[-1].loop("2200B")
            provider = closed.loop.loop("2100C")
            yield LevelRejection(
                reference=InterchangeReference(
                    level="batch", number=batch.value("TRN", 2) if batch else ""
                ),
                fact=replace(fact, claim=ClaimKey()),
                level=closed,
                provider=provider.value("NM1", 9) if provider else "",
            )

    def _rejections(self, level: tree.Loop) -> Iterator[statuses.StatusReportView]:
        """Yield the reports on a level above the claims that reject it."""
        known = self._levels.get(id(level))
        if known is None:
            reports = [statuses.REPORT(loop) for loop in level.loops(*LEVELS)]
            found = [self._originals.restore(one) for one in reports if self._rejects(one)]
            # The cache is keyed by identity: keeping the loop alive prevents its id from being reused.
            known = self._levels[id(level)] = (level, tuple(found))
        yield from known[1]

    def _rejects(self, report: statuses.StatusReportView) -> bool:
        return any(self._verdict(one) is StatusVerdict.REJECTED for one in report.statuses)

    def _verdict(self, status: statuses.StatusView) -> StatusVerdict:
        return verdict_of(self._kind, [code.category for code in status.codes], status.action)

    def _fact(
        self,
        report: statuses.StatusReportView,
        position: int,
        level: str,
        above: Iterable[statuses.StatusReportView],
        around: Sequence[tree.Loop],
    ) -> Fact:
        found = [(self._verdict(one), level, one) for one in report.statuses]
        for upper in above:
            inherited = ((self._verdict(one), "above", one) for one in upper.statuses)
            found += [one for one in inherited if one[0] is StatusVerdict.REJECTED]
        # The weightiest comes first: its category becomes the payer action.
        found.sort(key=lambda one: -WEIGHT[one[0]])
        verdict = found[0][0] if found else StatusVerdict.NOTED
        group = self._set.group
        source = self._source(around)
        return Fact(
            kind=FactKind.STATUS,
            at=read_group_time(group),
            claim=_key(report),
            serial=read_control_number(group.interchange),
            where=position_in_file(self._set, position),
            source=self._kind,
            verdict=verdict,
            day=_newest(one.day for _, _, one in found),
            codes=tuple(_code(code) for _, _, one in found for code in one.codes),
            charged=next((_cents(one) for _, _, one in found if one.charged is not None), None),
            payer=self._originals.restore(source.value("NM1", 3)) if source else "",
            by_clearinghouse=source is not None and source.value("NM1", 1) == CLEARINGHOUSE,
            complaints=tuple(self._complaints(found, report)),
        )

    def _complaints(
        self,
        found: list[tuple[StatusVerdict, str, statuses.StatusView]],
        report: statuses.StatusReportView,
    ) -> Iterator[Complaint]:
        for verdict, level, status in found:
            if self._is_complaint(verdict):
                yield from _of_status(self._kind, level, status)
        for line in report.lines:
            control = next((ref.value for ref in line.references if ref.qualifier == "FJ"), "")
            for status in line.statuses:
                if self._is_complaint(self._verdict(status)):
                    for one in _of_status(self._kind, "line", status):
                        yield replace(one, control=control)

    def _is_complaint(self, verdict: StatusVerdict) -> bool:
        """Return whether a status is explained: of an answer to a question also what is said about the question."""
        about_question = self._kind == "277" and verdict is StatusVerdict.NOTED
        return about_question or WEIGHT[verdict] > WEIGHT[StatusVerdict.ACCEPTED]

    def _source(self, around: Sequence[tree.Loop]) -> tree.Loop | None:
        """Return the loop that names who reports: the payer, or a clearinghouse on the way."""
        level = next((loop for loop in around if loop.node.id == "2000A"), None)
        return level.loop("2100A") if level else None


def verdict_of(kind: str, categories: Iterable[str], action: str = "") -> StatusVerdict:
    """Return the verdict of a status: the weightiest of its categories and its action code."""
    by_category: Mapping[str, str] = codes.load_column("status_categories", 2)
    found = [BY_ACTION[action]] if action in BY_ACTION else []
    for category in categories:
        if category in MESSAGES or (kind == "277" and category in ABOUT_THE_INQUIRY):
            found.append(StatusVerdict.NOTED)
        elif category in by_category:
            found.append(StatusVerdict(by_category[category]))
        elif category[:1] in BY_LETTER:
            found.append(BY_LETTER[category[0]])
    return max(found, key=WEIGHT.__getitem__, default=StatusVerdict.NOTED)


def _of_status(kind: str, level: str, status: statuses.StatusView) -> Iterator[Complaint]:
    for code in status.codes:
        yield Complaint(
            source=kind, code=code.status, level=level, category=code.category,
            entity=code.entity, text=status.message,
        )  # fmt: skip


def level_facts(rejection: LevelRejection, sent: SentLayout) -> Iterator[Fact]:
    """Derive a fact for each claim of the batch, or of one provider in it, that a rejected level concerns."""
    number = rejection.reference.number
    sets = [one for one in sent.sets if one.reference == number]
    if not sets:
        # Some payers return the control number of the interchange or group instead.
        numbers = (sent.control, *(one.group for one in sent.sets))
        sets = list(sent.sets) if any(same_number(one, number) for one in numbers) else []
    concerned = [
        one for each in sets for one in each.claims if rejection.provider in {"", one.provider}
    ]
    for one in concerned:
        yield replace(rejection.fact, claim=key_of(one), attempt=one.attempt)


def _key(report: statuses.StatusReportView) -> ClaimKey:
    numbers = {ref.qualifier: ref.value for ref in report.references}
    lines = (ref for line in report.lines for ref in line.references)
    return ClaimKey(
        claim_number=numbers.get("D9", ""),
        account_number=report.trace.number if report.trace else "",
        payer_control_number=numbers.get("1K", ""),
        line_controls=tuple(ref.value for ref in lines if ref.qualifier == "FJ"),
    )


def _code(code: statuses.StatusCodeView) -> ClaimStatusCode:
    return ClaimStatusCode(category=code.category, status=code.status, entity=code.entity)


def _cents(status: statuses.StatusView) -> int:
    return int((status.charged or 0) * 100)


def _newest(days: Iterable[date | None]) -> date | None:
    return max((day for day in days if day is not None), default=None)
