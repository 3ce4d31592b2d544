"""The payers that a vendor's files name, and the aliases by which the vendor calls them.

    payers = SenderPayers(directory, {"aetna1": "60054"})
    payers.find("AETNA1", "Medical")

An id of the directory always counts first, so an alias that is an id of the directory is refused. Pure: knows no file of
claims and no database.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from clearlane.kernel.finding import Finding, make_shape_finding
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.model import PAYER_TYPES, Payer
from clearlane.payers.transfer import RowFinding, csv_lines

FindPayer: TypeAlias = Callable[[str, str], Payer | None]
"""Returns the payer with an id, for a type of claims."""

ALIAS_CHARACTERS_MAX = 80
"""The length of NM109."""
ALIASES_PER_VENDOR_MAX = 10_000
ALIAS_COLUMNS = ("id", "payer")
NEAR_PAYERS_MAX = 3


@dataclass(frozen=True, slots=True)
class SenderPayers:
    """The directory as the files of one vendor name its payers."""

    directory: PayerDirectory
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Ids of payers in the directory, by the vendor's own ids in folded case."""

    def find(self, payer_id: str, type: str) -> Payer | None:
        """Return the payer that an id stands for: in the directory, by the vendor's alias, by an alias of the directory."""
        found = self.directory.find(payer_id, type)
        alias = self.aliases.get(alias_key(payer_id))
        if found is None and alias is not None:
            found = self.directory.find(alias, type)
        return found or self.directory.find_in_file(payer_id, type)


@dataclass(frozen=True, slots=True)
class AliasRow:
    """An alias that someone wants to set, and the line that it comes from."""

    line: int
    alias: str
    payer_id: str


def alias_key(alias: str) -> str:
    """Return an alias as it is compared: case and blanks at the ends do not count."""
    return alias.strip().casefold()


def read_aliases(content: bytes) -> tuple[list[AliasRow], list[RowFinding]]:
    """Read a CSV file with the columns ``id`` and ``payer``, to its end, whatever is wrong with it."""
    lines = csv_lines(content.decode("utf-8-sig", errors="surrogateescape"))
    line, header = next(lines, (1, []))
    names = [] if isinstance(header, Finding) else [cell.strip().casefold() for cell in header]
    if sorted(names) != sorted(ALIAS_COLUMNS):
        wanted = ",".join(ALIAS_COLUMNS)
        wrong = f"The first line must name two columns: {wanted}."
        return [], [RowFinding(line, make_shape_finding("PAYA1", "", wrong))]
    rows: list[AliasRow] = []
    findings: list[RowFinding] = []
    for line, cells in lines:
        if isinstance(cells, Finding):
            findings.append(RowFinding(line, cells))
        elif len(cells) == len(names):
            values = dict(zip(names, map(str.strip, cells), strict=True))
            rows.append(AliasRow(line, values["id"], values["payer"]))
        elif any(cell.strip() for cell in cells):
            wrong = f"The row has {len(cells)} cells, the header {len(names)}."
            findings.append(RowFinding(line, make_shape_finding("PAYA1", "", wrong)))
    return rows, findings


def alias_findings(rows: Iterable[AliasRow], payers: PayerDirectory) -> Iterator[RowFinding]:
    """Yield why aliases cannot be set, every reason with its line."""
    lines: dict[str, int] = {}
    for row in rows:
        first = lines.setdefault(alias_key(row.alias), row.line)
        found = [*_alias_findings(row.alias, payers), *_payer_findings(row.payer_id, payers)]
        if first != row.line:
            wrong = f"The id is in line {first} too; it can stand for one payer."
            found.append(make_shape_finding("PAYA3", "id", wrong))
        yield from (RowFinding(row.line, one) for one in found)


def find_any(payers: PayerDirectory, payer_id: str) -> Payer | None:
    """Return the payer with an id, of whatever type."""
    found = (payers.find(payer_id, type) for type in PAYER_TYPES)
    return next((payer for payer in found if payer is not None), None)


def _alias_findings(alias: str, payers: PayerDirectory) -> Iterator[Finding]:
    alias = alias.strip()
    fits = 2 <= len(alias) <= ALIAS_CHARACTERS_MAX and alias.isascii() and alias.isprintable()
    if not fits:
        wrong = (
            f"An id has 2 to {ALIAS_CHARACTERS_MAX} plain characters, as NM109 of a file has it."
        )
        yield make_shape_finding("PAYA2", "id", wrong)
    elif (payer := find_any(payers, alias)) is not None:
        wrong = f"{alias} is an id of {payer.name} ({payer.payer_id}) in the directory, which counts first."
        yield make_shape_finding(
            "PAYA4", "id", f"{wrong} An alias must be an id that no payer has."
        )


def _payer_findings(payer_id: str, payers: PayerDirectory) -> Iterator[Finding]:
    if payer_id and find_any(payers, payer_id) is not None:
        return
    matches = payers.search(payer_id, limit=NEAR_PAYERS_MAX) if payer_id else []
    near = ", ".join(dict.fromkeys(match.payer.payer_id for match in matches))
    hint = f" Did you mean {near}?" if near else " clearlane payer search finds payers."
    wrong = (
        f"There is no payer {payer_id} in the directory." if payer_id else "The payer is missing."
    )
    yield make_shape_finding("PAYA5", "payer", wrong + hint)
