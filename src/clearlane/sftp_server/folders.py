"""Names of folders and files as one account sees them: paths into places, and files into names.

Whatever a path holds, it leads to the root, to one of two folders, to a name in one of them, or nowhere. Knows no session.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from posixpath import normpath

from clearlane.accounts.sftp_account import SftpProfile
from clearlane.kernel import limits
from clearlane.payers.name_patterns import UNFINISHED_SUFFIXES


class Folder(StrEnum):
    """A folder, by what it is for."""

    ROOT = "root"
    IN = "in"
    """Files that the site sends."""
    OUT = "out"
    """Files that the site fetches."""


class BadFileName(Exception):
    """A name that no file can have here. The text says why."""


@dataclass(frozen=True, slots=True)
class FolderPlace:
    """Where a path leads: a folder, or a name in one."""

    folder: Folder
    name: str = ""
    """Empty for the folder itself."""


def is_unfinished(name: str) -> bool:
    """Return whether a name says that the file is still being sent."""
    return name.lower().endswith(UNFINISHED_SUFFIXES)


class FolderNames:
    """The folders of an account."""

    def __init__(self, profile: SftpProfile) -> None:
        self._profile = profile
        self.names = {Folder.IN: profile.in_folder, Folder.OUT: profile.out_folder}
        self._folders = {name.encode(): folder for folder, name in self.names.items()}
        literal = re.escape(profile.out_name)
        for placeholder in ("id", "type"):
            literal = literal.replace(re.escape(f"{{{placeholder}}}"), rf"(?P<{placeholder}>\w+)")
        self._out_name = re.compile(literal) if profile.out_name else None

    def absolute(self, path: bytes) -> bytes:
        """Return a path from the root. Steps above the root lead to the root."""
        return b"/" + normpath(b"/" + path).lstrip(b"/")

    def locate(self, path: bytes) -> FolderPlace | None:
        """Return where a path leads; None if it leads nowhere. Raise BadFileName for a name that cannot be."""
        steps = [step for step in self.absolute(path).split(b"/") if step]
        if not steps:
            return FolderPlace(Folder.ROOT)
        folder = self._folders.get(steps[0])
        if folder is None:
            # A file beside the folders.
            at_root = self._profile.uploads_at_root and len(steps) == 1
            return FolderPlace(Folder.IN, _file_name(steps[0])) if at_root else None
        if len(steps) == 1:
            return FolderPlace(folder)
        return FolderPlace(folder, _file_name(steps[1])) if len(steps) == 2 else None

    def shown_name(self, name: str, file_id: str, type: str) -> str:
        """Return the name of a file in the folder of files to fetch."""
        if self._out_name is None:
            return name
        return self._profile.out_name.format(id=file_id, type=type or "txt")

    def file_id(self, shown: str) -> str | None:
        """Return the id of the file that is shown under a name, if names are made of ids; else None."""
        found = self._out_name and self._out_name.fullmatch(shown)
        return found["id"] if found else None

    @property
    def shows_own_names(self) -> bool:
        """Whether files to fetch have the names that they have here."""
        return self._out_name is None


def _file_name(step: bytes) -> str:
    try:
        name = step.decode()
    except UnicodeDecodeError:
        raise BadFileName("A file name must be UTF-8.") from None
    if len(name) > limits.FILE_NAME_CHARACTERS_MAX:
        raise BadFileName(f"A file name has at most {limits.FILE_NAME_CHARACTERS_MAX} characters.")
    if not name.isprintable() or "\\" in name:
        raise BadFileName("A file name must not hold control characters or backslashes.")
    if name != name.strip(" ."):
        raise BadFileName("A file name must not begin or end with a dot or a space.")
    return name
