"""Say in one sentence why a set, a group or an interchange of a file was not accepted.

    rejection_reason(findings, "837I", "005010X223A2")      # "Institutional claims (837I) are not taken from files yet."

People read it beside the state; the TA1 and the 999 have the codes. A sentence has no value of the file but a version.
"""

from collections.abc import Iterable, Mapping

from clearlane.claims.forms.x12_loops import TRANSACTIONS
from clearlane.kernel.finding import Finding, Severity

NO_GUIDE = "ST-GUIDE"
"""The rule of sets whose transaction or version is not taken."""
NO_CLAIM = "None of its claims is accepted: each has findings of its own."
VERSION = "005010"
# The cause comes before what follows from it: a file that is cut has wrong counts too.
_BY_RULE: Mapping[str, str] = {
    "FILE-CUT": "The file is cut: its last segment has no terminator. Send the whole file.",
    "IEA-MISSING": "The file is cut: an interchange has no end (IEA). Send the whole file.",
}
_BY_TYPE: Mapping[str, str] = {
    "837I": "Institutional claims (837I) are not taken from files yet.",
    "270": "Eligibility inquiries (270) are not taken from files: send them to POST /clearlane/v1/x12.",
}


def rejection_reason(findings: Iterable[Finding], type: str = "", version: str = "") -> str:
    """Return why something with these findings was not accepted; empty if none is an error."""
    errors = [one for one in findings if one.severity is Severity.ERROR]
    rules = {one.rule for one in errors}
    if known := next((words for rule, words in _BY_RULE.items() if rule in rules), ""):
        return known
    if NO_GUIDE in rules:
        return _not_taken(type, version)
    return _sentence(errors[0]) if errors else ""


def _not_taken(type: str, version: str) -> str:
    release = version[: len(VERSION)]
    if release != VERSION and release.isascii() and release.isdigit():
        return f"Version {release} is not taken: send {' or '.join(TRANSACTIONS)} of version {VERSION}."
    other = "This transaction is not taken from files: send {} of version {}."
    return _BY_TYPE.get(type, other.format(" or ".join(TRANSACTIONS), VERSION))


def _sentence(error: Finding) -> str:
    at = error.position.file_segment if error.position else 0
    return f"{error.message}{f' (segment {at} of the file)' if at else ''}."
