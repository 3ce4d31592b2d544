"""Decide an import of payers: what it changes, or the findings that prevent it.

Compares the payers of a file with each other and with the existing ones. Pure: the store applies the changes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace as with_values

from clearlane.kernel.finding import Finding, make_shape_finding
from clearlane.payers.model import Payer
from clearlane.payers.samples import RESERVED_IDS
from clearlane.payers.transfer import RowFinding

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PayerChanges:
    """The changes of an import. With findings there are none."""

    added: tuple[Payer, ...] = ()
    changed: tuple[tuple[Payer, Payer], ...] = ()
    """Before and after."""
    removed: tuple[Payer, ...] = ()
    unchanged: int = 0
    findings: tuple[RowFinding, ...] = ()

    @property
    def ids(self) -> list[str]:
        """The PayerIds that change, each once."""
        touched = (*self.added, *(after for _, after in self.changed), *self.removed)
        return sorted({payer.payer_id for payer in touched})

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


def merge(
    existing: Iterable[Payer], incoming: Sequence[tuple[int, Payer]], *, drop_others: bool
) -> PayerChanges:
    """Decide an import of payers, each with its line, over the payers that exist.

    A payer in the file replaces the one of the same type and PayerId. With ``drop_others`` the live
    payers that are not in the file go; test payers always stay.
    """
    before = {payer.key: payer for payer in existing if not payer.is_test}
    after = {payer.key: payer for _, payer in incoming}
    removed = tuple(payer for key, payer in before.items() if drop_others and key not in after)
    kept = {} if drop_others else {key: p for key, p in before.items() if key not in after}
    findings = [
        *_reserved(incoming),
        *_twice(incoming),
        *_shared(incoming, kept),
    ]
    if findings:
        return PayerChanges(findings=tuple(sorted(findings, key=lambda row: row.line)))
    added, changed = [], []
    for key, payer in after.items():
        old = before.get(key)
        if old is None:
            added.append(payer)
            continue
        payer = with_values(payer, has_route=old.has_route)
        if payer != old:
            changed.append((old, payer))
    unchanged = len(after) - len(added) - len(changed)
    return PayerChanges(tuple(added), tuple(changed), removed, unchanged)


def _reserved(incoming: Sequence[tuple[int, Payer]]) -> Iterator[RowFinding]:
    for line, payer in incoming:
        for field, id in _ids(payer):
            if id in RESERVED_IDS:
                wrong = "The id belongs to a test payer of the sandbox. Give another one."
                yield RowFinding(line, make_shape_finding("PAY006", field, wrong))


def _twice(incoming: Sequence[tuple[int, Payer]]) -> Iterator[RowFinding]:
    first: dict[_Key, int] = {}
    for line, payer in incoming:
        earlier = first.setdefault(payer.key, line)
        if earlier != line:
            wrong = f"The {payer.type} payer is on line {earlier} already. Keep one of the two."
            yield RowFinding(line, make_shape_finding("PAY004", "PayerId", wrong))


def _shared(
    incoming: Sequence[tuple[int, Payer]], kept: Mapping[_Key, Payer]
) -> Iterator[RowFinding]:
    """Yield findings for ids that would name two payers of one type: claims could go to the wrong one."""
    owners: dict[_Key, dict[_Key, str]] = {}
    places = [("", payer) for payer in kept.values()]
    places += [(f" on line {line}", payer) for line, payer in incoming]
    for where, payer in places:
        for id in {id for _, id in _ids(payer)}:
            owners.setdefault((payer.type, id), {}).setdefault(payer.key, where)
    for line, payer in incoming:
        for field, id in _ids(payer):
            others = [(k, w) for k, w in owners[payer.type, id].items() if k != payer.key]
            for (_, other), where in others[:1]:
                yield RowFinding(line, _conflict(field, other, where))


def _conflict(field: str, other: str, where: str) -> Finding:
    wrong = f"The id is one of payer {other}{where} too. Give another one."
    return make_shape_finding("PAY005", field, wrong)


def _ids(payer: Payer) -> Iterator[tuple[str, str]]:
    """Yield the ids by which claims may name the payer, with their fields."""
    yield "PayerId", payer.payer_id.casefold()
    if payer.svc_payer_id.casefold() != payer.payer_id.casefold():
        yield "SvcPayerId", payer.svc_payer_id.casefold()
    institutional = payer.institutional_payer_id.casefold()
    if institutional not in {"", payer.payer_id.casefold(), payer.svc_payer_id.casefold()}:
        yield "InstitutionalPayerId", institutional
