"""Hops, which are upstream clearinghouses that serve many payers over one route: the map of their payer ids.

    hop = Hop("EASTGATE", "Eastgate Clearing", [HopPayer("Medical", "BLU31", "60101")])
    hop.id_of("Medical", "BLU31")                    # "60101", as the hop knows the payer
    hop.named("60101", "")                           # whom a file of the hop means

A hop is the receiver of a file; the payer is named in each claim by the id that the hop has for it. A payer that was
taken off the map is still known for what comes back. Knows no file, no connection and no database.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clearlane.kernel.finding import Finding, make_shape_finding
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.fields import InvalidPayerValueError, printable, read_identifier
from clearlane.payers.model import PAYER_TYPES, Payer
from clearlane.payers.transfer import RowFinding

HOP = "Hop"
"""The type of a route to a hop, and of the files that come from it: it serves payers of every type."""
COLUMNS = ("Type", "PayerId", "HopPayerId")
HOP_FILE_BYTES_MAX = 4 * 1024 * 1024


class HopPayer(NamedTuple):
    """A payer that a hop serves: our id for it, and the id that the hop has."""

    type: str
    payer_id: str
    hop_payer_id: str
    active: bool = True
    """False if it was taken off the map: nothing more is sent for it, and what comes back is still known."""

    @property
    def key(self) -> tuple[str, str]:
        """The key of the payer: type and id in folded case."""
        return self.type, self.payer_id.casefold()


class Hop:
    """A hop with its map."""

    def __init__(self, id: str, name: str, payers: Iterable[HopPayer]) -> None:
        self.id = id
        self.name = name
        self.payers = tuple(payers)
        self._by_key = {one.key: one for one in self.payers}
        self._by_hop_id: dict[str, list[HopPayer]] = {}
        for one in self.payers:
            self._by_hop_id.setdefault(one.hop_payer_id.casefold(), []).append(one)

    @property
    def served(self) -> tuple[HopPayer, ...]:
        """The payers that claims are sent to over the hop."""
        return tuple(one for one in self.payers if one.active)

    def id_of(self, type: str, payer_id: str, *, even_removed: bool = False) -> str:
        """Return the id that the hop has for a payer; empty if it serves no such payer."""
        found = self._by_key.get((type, payer_id.casefold()))
        return found.hop_payer_id if found and (found.active or even_removed) else ""

    def knows(self, payer_id: str) -> bool:
        """Return whether a payer of this id, of any type, is served by the hop or was."""
        return any((type, payer_id.casefold()) in self._by_key for type in PAYER_TYPES)

    def named(self, id: str, name: str, directory: PayerDirectory) -> list[HopPayer]:
        """Return the payers that a file of the hop may mean: by the hop's id, else any id of ours, else the name."""
        found = self._by_hop_id.get(id.casefold(), []) if id else []
        if not found and id:
            found = self._known(directory.find(id, type) for type in PAYER_TYPES)
        if not found or (len(found) > 1 and name):
            by_name = self._known(directory.find_by_name(name, type) for type in PAYER_TYPES)
            same = [one for one in by_name if not found or one in found]
            found = same or found
        return found

    def _known(self, payers: Iterable[Payer | None]) -> list[HopPayer]:
        keys = dict.fromkeys(payer.key for payer in payers if payer is not None)
        return [self._by_key[key] for key in keys if key in self._by_key]


def shared_ids(payers: Iterable[HopPayer]) -> list[str]:
    """Return a sentence for each id under which two payers of a type would be sent: what comes back could be about either."""
    by_id: dict[tuple[str, str], list[HopPayer]] = {}
    for one in payers:
        if one.active:
            by_id.setdefault((one.type, one.hop_payer_id.casefold()), []).append(one)
    return [
        f"{' and '.join(one.payer_id for one in same)} cannot both have the id {same[0].hop_payer_id} there."
        for same in by_id.values()
        if len(same) > 1
    ]


@dataclass(frozen=True, slots=True)
class HopFile:
    """The payers of a map that an operator imports, and its findings."""

    payers: tuple[HopPayer, ...] = ()
    findings: tuple[RowFinding, ...] = ()


def read_hop_payer(
    type: str, payer_id: str, hop_payer_id: str, directory: PayerDirectory
) -> tuple[HopPayer | None, list[Finding]]:
    """Read a row of a map; return it under the directory's own id of the payer, or every finding."""
    findings: list[Finding] = []
    kind = type.strip().capitalize()
    payer = None
    if kind not in PAYER_TYPES:
        wanted = " or ".join(PAYER_TYPES)
        findings.append(make_shape_finding("HOP001", "Type", f"Give {wanted}."))
    else:
        payer = directory.find(payer_id.strip(), kind) if payer_id.strip() else None
        if payer is None:
            wrong = f"The directory has no {kind.lower()} payer '{printable(payer_id)}'."
            findings.append(make_shape_finding("HOP002", "PayerId", wrong))
    sent = hop_payer_id.strip()
    try:
        read_identifier(sent)
    except InvalidPayerValueError as wanted_id:
        findings.append(make_shape_finding("HOP003", "HopPayerId", f"Give {wanted_id}."))
    if payer is None or findings:
        return None, findings
    return HopPayer(payer.type, payer.payer_id, sent), []


def read_map(content: bytes, directory: PayerDirectory) -> HopFile:
    """Read a map in CSV, with the columns Type, PayerId and HopPayerId in any order, to its end.

    A branch for each way in which a file may be wrong, so that its sender learns which.
    """
    if len(content) > HOP_FILE_BYTES_MAX:
        return _refused(f"The file is larger than {HOP_FILE_BYTES_MAX // 1024 // 1024} MiB.")
    try:
        text = content.decode("utf-8-sig")
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error):
        return _refused("The file is not CSV in UTF-8.")
    header = [cell.strip().casefold() for cell in rows[0]] if rows else []
    places = [
        header.index(name.casefold()) if name.casefold() in header else -1 for name in COLUMNS
    ]
    if -1 in places:
        return _refused(f"The first line must name the columns {','.join(COLUMNS)}.")
    payers: dict[tuple[str, str], HopPayer] = {}
    findings: list[RowFinding] = []
    for line, cells in enumerate(rows[1:], 2):
        if any(cell.strip() for cell in cells):
            type, payer_id, sent = (cells[at] if at < len(cells) else "" for at in places)
            found, wrong = read_hop_payer(type, payer_id, sent, directory)
            wrong += _beside(found, payers) if found else []
            findings += (RowFinding(line, one) for one in wrong)
            if found is not None and not wrong:
                payers[found.key] = found
    if not payers and not findings:
        return _refused("The file holds no payers.")
    return HopFile(tuple(payers.values()), tuple(findings))


def _beside(found: HopPayer, payers: Mapping[tuple[str, str], HopPayer]) -> list[Finding]:
    """Return what is wrong with a row beside the rows before it."""
    if found.key in payers:
        return [make_shape_finding("HOP004", "PayerId", "The payer is in the file twice.")]
    shared = shared_ids([*payers.values(), found])
    return [make_shape_finding("HOP006", "HopPayerId", sentence) for sentence in shared]


def write_map(payers: Sequence[HopPayer]) -> str:
    """Return a map as CSV that reads back as the same."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((one.type, one.payer_id, one.hop_payer_id) for one in payers)
    return out.getvalue()


def _refused(message: str) -> HopFile:
    return HopFile((), (RowFinding(1, make_shape_finding("HOP005", "", message)),))
