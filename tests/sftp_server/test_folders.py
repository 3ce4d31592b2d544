"""Paths of a client lead to one of two folders, to a name in one of them, or nowhere."""

import pytest

from clearlane.accounts.sftp_account import PROFILES
from clearlane.sftp_server.folders import (
    BadFileName,
    Folder,
    FolderNames,
    FolderPlace,
    is_unfinished,
)
from tests.cases import every_case

STANDARD = FolderNames(PROFILES["standard"])

PLACES = {
    b"": FolderPlace(Folder.ROOT),
    b".": FolderPlace(Folder.ROOT),
    b"/": FolderPlace(Folder.ROOT),
    b"../..": FolderPlace(Folder.ROOT),
    b"in": FolderPlace(Folder.IN),
    b"//in/./": FolderPlace(Folder.IN),
    b"out/../in/a.837": FolderPlace(Folder.IN, "a.837"),
    b"/../../in/a b.837": FolderPlace(Folder.IN, "a b.837"),
    b"/out/Ren\xc3\xa9.835": FolderPlace(Folder.OUT, "René.835"),
    b"in/sub/a.837": None,
    b"IN/a.837": None,
    b"etc/passwd": None,
    b"a.837": None,
}


@every_case("path", PLACES)
def test_a_path_leads_into_a_folder_or_nowhere(path):
    assert STANDARD.locate(path) == PLACES[path]


@every_case(
    "path",
    [b"in/" + b"a" * 201, b"in/\xff", b"in/a\nb", b"in/a\0b", b"in/.a", b"in/a ", b"in/a\\b", b"in/..."],
)  # fmt: skip
def test_a_name_that_no_file_can_have_is_refused(path):
    with pytest.raises(BadFileName):
        STANDARD.locate(path)


def test_a_path_from_the_root_never_leaves_it():
    assert STANDARD.absolute(b"../../etc//passwd") == b"/etc/passwd"
    assert STANDARD.absolute(b"//in/..") == b"/"


def test_files_beside_the_folders_are_sent_if_the_profile_says_so():
    at_root = FolderNames(PROFILES["root"])
    assert at_root.locate(b"/a.837") == FolderPlace(Folder.IN, "a.837")
    assert at_root.locate(b"/sub/a.837") is None


def test_names_are_made_of_ids_and_lead_back_to_them():
    names = FolderNames(PROFILES["extension"])
    shown = names.shown_name("a.999", "F123", "277CA")
    assert (shown, names.file_id(shown), names.shows_own_names) == ("F123.277CA", "F123", False)
    assert names.file_id("a.b.c") is None
    assert STANDARD.shown_name("a.999", "F123", "277CA") == "a.999"
    assert STANDARD.file_id("F123.999") is None


def test_unfinished_names():
    assert all(map(is_unfinished, ("a.part", "a.837.TMP", "a.filepart")))
    assert not is_unfinished("part.837")
