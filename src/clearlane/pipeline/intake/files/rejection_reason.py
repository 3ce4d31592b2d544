"""Say in one sentence why a set, a group or an interchange of a file was not accepted.

    rejection_reason(findings, "004010X098A1")      # "Version 004010 is not taken: send 837P, ..."

People read it beside the state; the TA1 and the 999 have the codes. A sentence has no value of the file but a version.
"""

from collections.abc import Iterable, Mapping

from clearlane.claims.forms.x12_loops import TRANSACTIONS
from clearlane.kernel.finding import Finding, Severity

NO_GUIDE = "ST-GUIDE"
"""The rule of sets whose transaction or version is not taken."""
NO_CLAIM = "None of its claims is accepted: each has findings of its own."
NO_PAYER = "No payer can be asked: none is in the directory and takes inquiries. A report in words names each inquiry and why."
SOME_NOT_ASKED = "Not every inquiry is asked. A report in words names those that are not, and why."
VERSION = "005010"
TAKEN = f"{', '.join(TRANSACTIONS)}, 270 or 276"
# The cause comes before what follows from it: a file that is cut has wrong counts too.
_BY_RULE: Mapping[str, str] = {
    "FILE-CUT": "The file is cut: its last segment has no terminator. Send the whole file.",
    "IEA-MISSING": "The file is cut: an interchange has no end (IEA). Send the whole file.",
}


def rejection_reason(findings: Iterable[Finding], version: str = "") -> str:
    """Return why something with these findings was not accepted; empty if none is an error."""
    errors = [one for one in findings if one.severity is Severity.ERROR]
    rules = {one.rule for one in errors}
    if known := next((words for rule, words in _BY_RULE.items() if rule in rules), ""):
        return known
    if NO_GUIDE in rules:
        return _not_taken(version)
    return _sentence(errors[0]) if errors else ""


def _not_taken(version: str) -> str:
    release = version[: len(VERSION)]
    if release != VERSION and release.isascii() and release.isdigit():
        return f"Version {release} is not taken: send {TAKEN} of version {VERSION}."
    return f"This transaction is not taken from files: send {TAKEN} of version {VERSION}."


def _sentence(error: Finding) -> str:
    at = error.position.file_segment if error.position else 0
    return f"{error.message}{f' (segment {at} of the file)' if at else ''}."
