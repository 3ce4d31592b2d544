"""What a file says: in sentences with what its check found, and every element explained, as ``clearlane x12 html`` does."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import chain

from starlette.responses import Response

from clearlane.claims.forms import FORMS
from clearlane.claims.responses.element_fields import ElementFields
from clearlane.console.frame import page_text
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.rendering import make_response
from clearlane.kernel.finding import Severity
from clearlane.payments import wording
from clearlane.x12 import guides
from clearlane.x12.grammar import Guide
from clearlane.x12.show.page import NameFields, UnreadablePageError, write_contents
from clearlane.x12.show.page_summary import UNITS, FindingGroup, PageSummary, SetKey, summarize

EXPLAINED_BYTES_MAX = 4 * 1024 * 1024
"""A larger file is downloaded and read with ``clearlane x12 html``."""
CONTENTS_MARK = b"<!-- contents -->"
"""The place of the contents in the page of an explained file."""
FINDINGS_SHOWN = 20
FINDING_LABELS = {Severity.ERROR: "act", Severity.WARNING: "late", Severity.INFO: "wait"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSummary:
    """What a file is, in sentences, and what its check found."""

    sentences: list[str] = field(default_factory=list)
    findings: list[tuple[str, str, str, int]] = field(default_factory=list)
    """Label kind, sentence, the places of the first ones, and how often."""
    is_readable: bool = True
    is_checked: bool = True
    """False if what was found is shown elsewhere: at the claims."""
    text: str = ""
    """A report in words, as it came."""


def too_large(size: int) -> FileSummary:
    """Return the summary of a file that is too large for a page."""
    sentence = f"The file has {size / 1024 / 1024:,.0f} MB; download it to look at it."
    return FileSummary(sentences=[sentence], is_readable=False)


async def describe_content(content: bytes, sets: Collection[SetKey] | None = None) -> FileSummary:
    """Return what a file is, in sentences, and what its check found; with ``sets``, around and in these alone."""
    return await asyncio.to_thread(lambda: describe(summarize(iter([content])), sets))


def describe(summary: PageSummary, sets: Collection[SetKey] | None = None) -> FileSummary:
    """Return a summary in sentences."""
    if not summary.interchange_count:
        return FileSummary(sentences=["This is not an X12 file."], is_readable=False)
    sentences = []
    for kind, found in summary.kinds.items():
        name = guides.by_kind(kind).name if kind else "a transaction of a guide that is not known"
        unit = UNITS[kind].word if kind in UNITS else "unit"
        amounts = "".join(f", {word} {value:,.2f}" for word, value in found.amounts.items())
        units = page_text.count(found.units, unit)
        sentences.append(f"{kind} {name}: {units}{amounts}.".strip())
    findings = [
        (
            FINDING_LABELS[group.finding.severity],
            group.finding.message,
            _places(group),
            group.count,
        )
        for group in _groups(summary, sets)[:FINDINGS_SHOWN]
    ]
    return FileSummary(sentences=sentences, findings=findings, is_checked=sets is None)


def _groups(summary: PageSummary, sets: Collection[SetKey] | None) -> list[FindingGroup]:
    """Return equal findings together, errors first: of the whole file, or of its envelope and some sets."""
    groups = summary.groups
    if sets is not None:
        groups = {}
        for key, by_place in summary.findings.items():
            for finding in chain.from_iterable(by_place.values()):
                if not key[-1] or key in sets:
                    name = (finding.severity, finding.rule, finding.message)
                    groups.setdefault(name, FindingGroup(finding)).add(finding)
    order = [*FINDING_LABELS]
    return sorted(groups.values(), key=lambda one: order.index(one.finding.severity))


async def explain_content(
    request: PageRequest, content: bytes, path: str, name: str, note: str = ""
) -> Response:
    """Return the page of a file with every element explained; ``path`` is that of the file's own page, ``note`` comes first."""
    if len(content) > EXPLAINED_BYTES_MAX:
        sentence = (
            "The file is too large for a page. Download it, and read it with: clearlane x12 html"
        )
        return request.message(409, "Too large for a page", sentence)
    try:
        return await asyncio.to_thread(_explained, request, content, path, name, note)
    except UnreadablePageError:
        sentence = "The file is not X12, so there is nothing to explain. Download it to look at it."
        return request.message(409, "Not X12", sentence)


def _explained(request: PageRequest, content: bytes, path: str, name: str, note: str) -> Response:
    """Return the page of an explained file; in a thread, since a large file takes seconds."""
    pieces = write_contents(
        lambda: iter([content]), name_fields=_follow_claims, spell=wording.spell_days
    )
    first = next(pieces)  # raises if there is nothing to explain
    page = request.render(
        "file_explained.html", f"{name}, explained", path=path, file_name=name, note=note
    )
    # The contents are many times the file: put between the halves of the frame they are held once, not in each step
    # of a template. Their writer escapes every text of the file.
    before, _, after = bytes(page.body).partition(CONTENTS_MARK)
    body = b"".join([before, first.encode(), *(piece.encode() for piece in pieces), after])
    return make_response(body, 200, "text/html; charset=utf-8")


def _follow_claims(guide: Guide) -> NameFields | None:
    """Return who names the claim fields of a set: the placement tables of its kind of claim, if it has any."""
    for form in FORMS.values():
        if form.placements.guide is guide:
            return ElementFields(form).follow
    return None


def _places(group: FindingGroup) -> str:
    """Return the segments of the first of equal findings, as they are counted in the whole file."""
    numbers = dict.fromkeys(str(one.file_segment) for one in group.places if one.file_segment)
    more = ", ..." if numbers and group.count > len(group.places) else ""
    return ", ".join(numbers) + more
