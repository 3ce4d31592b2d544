"""What ``clearlane codes`` shows of lists: the editions of each, the newest first, and those of the package below them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from clearlane.cli.command.table import TableColumn
from clearlane.code_files.readers import CMS, READERS
from clearlane.store.database.schema.code_list_tables import IN_FORCE
from clearlane.store.installation.code_lists import StoredEdition
from clearlane.x12 import codes
from clearlane.x12.codes import dated_codes
from clearlane.x12.codes.code_editions import hidden
from clearlane.x12.codes.dated_codes import LAST_DAY, SOURCE

EMBEDDED = "embedded"
"""The edition of a list of the package."""
COVERED = "covered"
"""The state of an edition that decides on no day, because later ones cover all of its days."""
LISTS_OF_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "carc": "carc",
        "claim-status": "statuses",
        "rarc": "rarc",
        "status-category": "status_categories",
    }
)
"""Lists of which the package has the meaning of each code, not its days, until one is imported."""
OTHER_TITLES = {"ms-drg": ("MS-DRG", CMS)}
"""Title and publisher of the lists that cannot be imported."""

STATUS = (
    TableColumn("list", "list"),
    TableColumn("edition", "edition"),
    TableColumn("first day", "first_day"),
    TableColumn("last day", "last_day"),
    TableColumn("codes", "codes"),
)
COLUMNS = (
    *STATUS,
    TableColumn("state", "state"),
    TableColumn("left out", "left_out", drop=3),
    TableColumn("missing", "missing", drop=4),
    TableColumn("source", "source", wrap=True, drop=1),
    TableColumn("sha256", "hash", drop=2),
)


def stored_facts(edition: StoredEdition) -> dict[str, object]:
    """Return the facts of an edition that was imported."""
    return {column.name: getattr(edition, column.name) for column in COLUMNS}


def embedded_facts(name: str) -> dict[str, object] | None:
    """Return the facts of the list of the package; None if it has none of this name."""
    known, words = dated_codes.find(name), LISTS_OF_WORDS.get(name, "")
    if known is not None:
        days = known.first_day.isoformat(), known.last_day.isoformat()
        count = len({code for code, _ in known})
        notes = {about: dated_codes.find_note(name, about) for about in (SOURCE, LAST_DAY)}
    elif words:
        days, count = ("", ""), len(codes.load_column(words, 1))
        notes = {about: codes.find_note(words, about) for about in (SOURCE, LAST_DAY)}
    else:
        return None
    return {
        "list": name,
        "edition": EMBEDDED,
        "first_day": days[0],
        "last_day": notes[LAST_DAY].partition(".")[0] or days[1],
        "codes": count,
        "state": IN_FORCE,
        "left_out": 0,
        "missing": 0,
        "source": notes[SOURCE].removesuffix("."),
        "hash": "",
    }


def embedded_names() -> frozenset[str]:
    """Return the names of the lists of the package."""
    return dated_codes.names() | LISTS_OF_WORDS.keys()


def edition_rows(stored: Iterable[StoredEdition], name: str) -> Iterator[dict[str, object]]:
    """Yield the facts of each edition of a list, the one imported last first, that of the package at the end."""
    own = [one for one in stored if one.list == name]
    covered = covered_editions(own)
    for one in own:
        yield stored_facts(one) | ({"state": COVERED} if one.id in covered else {})
    if facts := embedded_facts(name):
        yield facts


def covered_editions(newest_first: Sequence[StoredEdition]) -> set[int]:
    """Return the ids of the editions in force of one list that decide on no day."""
    in_force = [one.as_edition for one in newest_first if one.state == IN_FORCE]
    return {one.id for one in hidden(in_force)}


def title_and_publisher(name: str) -> tuple[str, str]:
    """Return what a list is called, and who publishes it."""
    reader = READERS.get(name)
    return (reader.title, reader.publisher) if reader else OTHER_TITLES.get(name, (name, ""))
