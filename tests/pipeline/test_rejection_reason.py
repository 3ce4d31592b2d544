"""The sentence that says why a part of a file was not accepted."""

import pytest

from clearlane.kernel.finding import Finding, SegmentPosition, Severity
from clearlane.pipeline.intake.files.rejection_reason import NO_GUIDE, rejection_reason


def finding(rule, message="GE01 must be 1", **own):
    return Finding(rule=rule, message=message, **own)


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("005010X221A1", "send 837P, 837D, 837I, 270 or 276 of version 005010."),
        ("004010X098A1", "Version 004010 is not taken: send 837P, 837D, 837I, 270 or 276"),
        ("SMITH^ANNA", "This transaction is not taken"),
        ("", "This transaction is not taken"),
    ],
)
def test_what_is_not_taken_is_named(version, words):
    found = rejection_reason([finding(NO_GUIDE)], version)
    assert words in found
    assert "SMITH" not in found


def test_a_file_that_is_cut_is_said_before_what_follows_from_it():
    found = rejection_reason([finding("GE-COUNT"), finding("IEA-MISSING"), finding("FILE-CUT")])
    assert found.startswith("The file is cut: its last segment")


def test_another_error_is_its_own_sentence_with_its_place():
    warning = finding("ELM-CASE", "in capitals", severity=Severity.WARNING)
    placed = finding("GE-COUNT", position=SegmentPosition(file_segment=40))
    assert rejection_reason([warning, placed]) == "GE01 must be 1 (segment 40 of the file)."
    assert rejection_reason([warning]) == ""
