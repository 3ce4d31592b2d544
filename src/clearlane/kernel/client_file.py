"""Files that sites send and fetch: their words, and the filters of their lists.

The v1 interface, the console and the CLI offer the same filters. Light, because commands of the base install read it.
"""

from enum import StrEnum

from clearlane.kernel.list_filter import FilterType, ListFilter


class FileDirection(StrEnum):
    """Which way a file goes, seen from here."""

    IN = "in"
    OUT = "out"


class FileChannel(StrEnum):
    """How a file came, or who wrote it."""

    HTTPS = "https"
    SFTP = "sftp"
    CLI = "cli"
    SYSTEM = "system"
    """Written by Clearlane for a site to fetch."""


class FileState(StrEnum):
    """What became of a file."""

    UPLOADING = "uploading"
    """Not all of it is stored. No list shows it."""
    RECEIVED = "received"
    ACCEPTED = "accepted"
    PARTLY_ACCEPTED = "partly_accepted"
    REJECTED = "rejected"
    UNREADABLE = "unreadable"
    READY = "ready"
    """It waits to be fetched, or was fetched."""


FILE_TYPES = (
    "837P", "837D", "837I", "270", "276", "TA1", "999", "277CA", "277", "835", "271", "text", "csv", "other",
)  # fmt: skip
"""What a file holds: a transaction, words for people, or something else. Empty while it is not known."""


RESPONSE_TYPES = ("TA1", "999", "277CA", "277", "835", "271")
"""What comes back for claims and inquiries. A site sends such files of another clearinghouse to compare, in shadow."""


def is_counted(direction: str, type: str | None) -> bool:
    """Return whether the claims or patients of a file are counted: of one that was sent, and holds no responses."""
    return direction == FileDirection.IN and type not in RESPONSE_TYPES


def counted_noun(type: str | None) -> str:
    """Return what the counts of a file or set are about: patients of a 270, claims of others."""
    return "patient" if type == "270" else "claim"


def set_words(interchange: int, group: int, position: int) -> str:
    """Return the place of a set in its file: ``set 2``, with its interchange and group if these are not the first."""
    around = (("interchange", interchange), ("group", group))
    named = [f"{word} {number}" for word, number in around if number > 1]
    return ", ".join([*named, f"set {position}"])


LISTED_STATES = tuple(state for state in FileState if state is not FileState.UPLOADING)

ClientFileFilter = ListFilter[str]
"""Its condition is a name of ``store/files/client_file_query``."""
CLIENT_FILE_FILTERS = (
    ClientFileFilter(
        "direction", FilterType.CHOICE, "direction", "Direction",
        "Files that the site sent (`in`), or files for it to fetch (`out`).", tuple(FileDirection),
    ),
    ClientFileFilter(
        "state", FilterType.CHOICE, "state", "State", "What became of the file.", LISTED_STATES
    ),
    ClientFileFilter("type", FilterType.CHOICE, "type", "Type", "What the file holds.", FILE_TYPES),
    ClientFileFilter(
        "received_from", FilterType.DAY, "received_day_from", "Received from",
        "The first day of receipt, in the site's time zone.",
    ),
    ClientFileFilter(
        "received_to", FilterType.DAY, "received_day_to", "Received to", "The last day of receipt, included."
    ),
    ClientFileFilter(
        "not_fetched", FilterType.FLAG, "not_fetched", "Not fetched", "Only files that were not fetched."
    ),
    ClientFileFilter(
        "shadow", FilterType.FLAG, "shadow", "Shadow", "Only shadow files and the answers to them."
    ),
    ClientFileFilter("answers", FilterType.TEXT, "answers", "Answers file", "The id of the file that it answers."),
    ClientFileFilter("name", FilterType.TEXT, "name", "Name", "The name of the file."),
)  # fmt: skip
