"""277CA and 277 to facts: what each status says of its claim, and what a rejected level says of those below.

Knows status loops and the layout of what was sent; knows no field, no database and no clock.
"""

import dataclasses
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import date

from msgspec.structs import replace

from clearlane.claims.ack_messages import (
    Asks,
    HeardLevel,
    HeardStatus,
    same_number,
    sent_key,
    where_in,
)
from clearlane.claims.facts import ClaimKey, Code, Complaint, Fact, Kind, Verdict
from clearlane.claims.sent_layout import Layout
from clearlane.x12 import codes, guides, reader, tree
from clearlane.x12.envelope_time import serial_of, time_of
from clearlane.x12.grammar import Guide
from clearlane.x12.views import status as statuses
from clearlane.x12.views.original import Originals

KINDS = frozenset({"277CA", "277"})
CLAIM_LOOPS = ("2200D", "2200E")
LEVELS = {"2200B": "receiver", "2200C": "provider"}

WEIGHT = {Verdict.NOTED: 0, Verdict.ACCEPTED: 1, Verdict.PENDING: 2, Verdict.REJECTED: 3}
# Categories of a 277 that speak of the question, not of the claim.
ABOUT_THE_INQUIRY = frozenset({"A4", "D0", "E0", "E1", "E2", "E3", "E4"})
# What a category says by its first letter where the list does not say more: a claim that is finalised stays
# pending until its remittance is seen.
BY_LETTER = {"P": Verdict.PENDING, "F": Verdict.PENDING, "R": Verdict.PENDING}
BY_ACTION = {"U": Verdict.REJECTED, "WQ": Verdict.ACCEPTED}
MESSAGES = frozenset({"X0", "RQ"})


class Statuses:
    """One set of statuses while it is read."""

    def __init__(self, set: tree.Set, kind: str) -> None:
        self._set = set
        self._kind = kind
        self._originals = Originals(set.group.interchange.delimiters)
        self._levels: dict[int, tuple[tree.Loop, tuple[statuses.Report, ...]]] = {}

    def claims(self, unit: reader.Unit) -> Iterator[HeardStatus]:
        """The claims of a patient."""
        above = [one for parent in unit.parents for one in self._rejections(parent)]
        for loop in unit.loop.descend(*CLAIM_LOOPS):
            report = self._originals.restored(statuses.REPORT(loop))
            fact = self._fact(report, loop.position, "claim", above, unit.parents)
            yield HeardStatus(fact=fact, unit=unit)

    def level(self, unit: reader.Unit) -> Iterator[HeardLevel]:
        """A level as a whole, if it is rejected; ``unit`` is its verdict loop."""
        report = self._originals.restored(statuses.REPORT(unit.loop))
        if not self._rejects(report):
            return
        level = LEVELS[unit.loop.node.id]
        fact = self._fact(report, unit.parents[-1].position, level, (), unit.parents)
        batch = unit.loop if level == "receiver" else unit.parents[-2].loop("2200B")
        provider = unit.parents[-1].loop("2100C")
        yield HeardLevel(
            asks=Asks(by="batch", number=batch.value("TRN", 2) if batch else ""),
            fact=replace(fact, claim=ClaimKey()),
            provider=provider.value("NM1", 9) if provider else "",
        )

    def _rejections(self, level: tree.Loop) -> Iterator[statuses.Report]:
        """The reports of a level, other than of claims, that reject it."""
        kept = self._levels.get(id(level))
        if kept is None:
            reports = [statuses.REPORT(loop) for loop in level.loops(*LEVELS)]
            found = [self._originals.restored(one) for one in reports if self._rejects(one)]
            # The loop is kept beside its reports, so that its identity stays its own.
            kept = self._levels[id(level)] = (level, tuple(found))
        yield from kept[1]

    def _rejects(self, report: statuses.Report) -> bool:
        return any(self._verdict(one) is Verdict.REJECTED for one in report.statuses)

    def _verdict(self, status: statuses.Status) -> Verdict:
        return verdict_of(self._kind, [code.category for code in status.codes], status.action)

    def _fact(
        self,
        report: statuses.Report,
        position: int,
        level: str,
        above: Iterable[statuses.Report],
        around: Sequence[tree.Loop],
    ) -> Fact:
        said = [(self._verdict(one), level, one) for one in report.statuses]
        for upper in above:
            inherited = ((self._verdict(one), "above", one) for one in upper.statuses)
            said += [one for one in inherited if one[0] is Verdict.REJECTED]
        # The weightiest speaks first, so that its category names what the payer did.
        said.sort(key=lambda one: -WEIGHT[one[0]])
        verdict = said[0][0] if said else Verdict.NOTED
        group = self._set.group
        return Fact(
            kind=Kind.STATUS,
            at=time_of(group),
            claim=_key(report),
            serial=serial_of(group.interchange),
            where=where_in(self._set, position),
            source=self._kind,
            verdict=verdict,
            day=_newest(one.day for _, _, one in said),
            codes=tuple(_code(code) for _, _, one in said for code in one.codes),
            charged=next((_cents(one) for _, _, one in said if one.charged is not None), None),
            payer=self._payer(around),
            complaints=tuple(self._complaints(said, report)),
        )

    def _complaints(
        self, said: list[tuple[Verdict, str, statuses.Status]], report: statuses.Report
    ) -> Iterator[Complaint]:
        for verdict, level, status in said:
            if WEIGHT[verdict] > WEIGHT[Verdict.ACCEPTED]:
                yield from _of_status(self._kind, level, status)
        for line in report.lines:
            control = next((ref.value for ref in line.references if ref.qualifier == "FJ"), "")
            for status in line.statuses:
                if WEIGHT[self._verdict(status)] > WEIGHT[Verdict.ACCEPTED]:
                    for one in _of_status(self._kind, "line", status):
                        yield replace(one, control=control)

    def _payer(self, around: Sequence[tree.Loop]) -> str:
        source = next((loop for loop in around if loop.node.id == "2000A"), None)
        name = source.loop("2100A") if source else None
        return self._originals.restored(name.value("NM1", 3)) if name else ""


def levels(content: bytes, named: Container[tuple[int, ...]]) -> Iterator[reader.Unit]:
    """The verdicts on levels that name no claim, each as a unit; ``named`` tells the others.

    A reader that streams lets a level go that holds no claim, so the file is read again with the verdicts
    as what is counted.
    """
    for loop in LEVELS:
        for event in reader.read(content, check=False, choose=_CHOICES[loop]):
            if isinstance(event, reader.Unit) and place_of(event, event.parents[-1]) not in named:
                yield event


def place_of(unit: reader.Unit, loop: tree.Loop) -> tuple[int, ...]:
    """Where in the file a loop begins."""
    where = where_in(unit.set, loop.position)
    return where.interchange, where.group, where.set, where.position


def _choice(loop: str) -> Callable[[str, str], Guide | None]:
    made = {kind: dataclasses.replace(guides.by_kind(kind), unit=loop) for kind in KINDS}

    def choose(transaction: str, version: str) -> Guide | None:
        guide = guides.by_version(transaction, version)
        return made.get(guide.kind) if guide else None

    return choose


_CHOICES = {loop: _choice(loop) for loop in LEVELS}


def verdict_of(kind: str, categories: Iterable[str], action: str = "") -> Verdict:
    """What a status says of a claim: the weightiest of its categories and its action code."""
    list_says: Mapping[str, str] = codes.column("status_categories", 2)
    found = [BY_ACTION[action]] if action in BY_ACTION else []
    for category in categories:
        if category in MESSAGES or (kind == "277" and category in ABOUT_THE_INQUIRY):
            found.append(Verdict.NOTED)
        elif category in list_says:
            found.append(Verdict(list_says[category]))
        elif category[:1] in BY_LETTER:
            found.append(BY_LETTER[category[0]])
    return max(found, key=WEIGHT.__getitem__, default=Verdict.NOTED)


def _of_status(kind: str, level: str, status: statuses.Status) -> Iterator[Complaint]:
    for code in status.codes:
        yield Complaint(
            source=kind, code=code.status, level=level, category=code.category,
            entity=code.entity, text=status.message,
        )  # fmt: skip


def of_level(heard: HeardLevel, sent: Layout) -> Iterator[Fact]:
    """The claims of a batch, or of one provider in it, that a rejected level concerns."""
    number = heard.asks.number
    sets = [one for one in sent.sets if one.reference == number]
    if not sets:
        # Some payers give back the control number of the interchange or group instead.
        numbers = (sent.control, *(one.group for one in sent.sets))
        sets = list(sent.sets) if any(same_number(one, number) for one in numbers) else []
    concerned = [
        one for each in sets for one in each.claims if heard.provider in {"", one.provider}
    ]
    for one in concerned:
        yield replace(heard.fact, claim=sent_key(one), attempt=one.attempt)


def _key(report: statuses.Report) -> ClaimKey:
    numbers = {ref.qualifier: ref.value for ref in report.references}
    lines = (ref for line in report.lines for ref in line.references)
    return ClaimKey(
        number=numbers.get("D9", ""),
        account=report.trace.number if report.trace else "",
        payer_number=numbers.get("1K", ""),
        controls=tuple(ref.value for ref in lines if ref.qualifier == "FJ"),
    )


def _code(code: statuses.Code) -> Code:
    return Code(category=code.category, status=code.status, entity=code.entity)


def _cents(status: statuses.Status) -> int:
    return int((status.charged or 0) * 100)


def _newest(days: Iterable[date | None]) -> date | None:
    return max((day for day in days if day is not None), default=None)
