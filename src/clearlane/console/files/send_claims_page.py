"""Send claims from the console: a JSON document or an 837 file, chosen, dropped or pasted; then what became of each.

A document goes the way of ``POST /clearlane/v1/claims``, any other file that of ``POST /clearlane/v1/files``: the same
rules, the same answers.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
from starlette.responses import Response

from clearlane.accounts.model import Site, SiteState
from clearlane.claims.forms import FORMS, AnyForm
from clearlane.console.frame.act_question import ADDS
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import BILLERS, PageRows
from clearlane.kernel.client_file import FileChannel
from clearlane.kernel.finding import Severity
from clearlane.pipeline.intake.files.upload import Upload
from clearlane.pipeline.intake.read import MalformedDocument, TooManyClaims
from clearlane.pipeline.intake.store import ClaimResult
from clearlane.pipeline.intake.submission_result import SubmissionReceipt, SubmissionResult
from clearlane.pipeline.intake.submit import submit
from clearlane.pipeline.query.claim_summary import refresh_summary

pages = PageRows(roles=BILLERS, menu="/claims")

PATH = "/claims/send"
FORM_BYTES_MAX = 4 * 1024 * 1024
"""Of the form, in which a file is a third larger than by itself."""
EMPTY_FILE = "The file is empty. Choose another one, or paste its text."
FILE_BYTES_MAX = 2 * 1024 * 1024
NAME_CHARACTERS_MAX = 120
CLAIMS_LISTED_MAX = 200
FINDINGS_LISTED_MAX = 5
JSON_BEGINS = (b"{", b"\xef\xbb\xbf{")
NOT_STORED = "The claims could not be stored. Nothing was stored; send them again."


@dataclass(frozen=True, slots=True, kw_only=True)
class SentClaims:
    """What became of a document: each claim, or why it was not read."""

    results: tuple[ClaimResult, ...] = field(default=(), repr=False)
    faults: tuple[str, ...] = ()

    @property
    def accepted(self) -> int:
        """How many claims were accepted."""
        return sum(one.accepted for one in self.results)


@pages.page(PATH)
async def show_send(request: PageRequest) -> Response:
    """Show where a file is chosen, dropped or pasted."""
    return _render(request)


@pages.act(PATH, ADDS, form_bytes_max=FORM_BYTES_MAX)
async def send_claims(request: PageRequest) -> Response:
    """Take a file in, and show what became of it."""
    site = request.named_site("of")
    content, fault = _read_content(request)
    if site is None:
        fault = "Choose the site that the claims are of."
    elif site.state is SiteState.SUSPENDED:
        fault = f"{site.name} is suspended: it sends no claims."
    if fault or site is None:
        return _render(request, status=400, fault=fault)
    if content.lstrip().startswith(JSON_BEGINS):
        sent = await _submit_document(request, site, content)
        return _render(request, status=400 if sent.faults else 200, sent=sent)
    name = request.form.get("name")[:NAME_CHARACTERS_MAX]
    upload = await Upload.begin(
        request.context.work_context,
        site,
        name=name,
        channel=FileChannel.HTTPS,
        actor=request.actor,
    )
    await upload.write(content)
    file = await upload.finish(name)
    return request.redirect(f"/files/sites/{file.file_id}")


def _read_content(request: PageRequest) -> tuple[bytes, str]:
    """Return the bytes of the chosen file or of the pasted text, and what is wrong with them."""
    try:
        content = base64.b64decode(request.form.get("content"), validate=True)
    except (ValueError, binascii.Error):
        return b"", "The file could not be read. Choose it again."
    content = content or request.form.get("text").encode()
    if not content.strip():
        # A file that was chosen has a name, whatever it holds.
        is_chosen = bool(request.form.get("name"))
        return b"", EMPTY_FILE if is_chosen else "Choose a file, or paste its text."
    if len(content) > FILE_BYTES_MAX:
        megabytes = FILE_BYTES_MAX // 1024 // 1024
        return b"", (
            f"The file is larger than {megabytes} MB. Send it by SFTP, or with: clearlane file send FILE"
        )
    return content, ""


async def _submit_document(request: PageRequest, site: Site, content: bytes) -> SentClaims:
    form = _named_form(content)
    if form is None:
        expected = ", ".join(one.document_type for one in FORMS.values())
        return SentClaims(
            faults=(f"DocumentType: one of {expected} is expected, in a JSON document of claims.",)
        )
    context = request.context.work_context
    outcome = await submit(
        context,
        content.removeprefix(b"\xef\xbb\xbf"),
        form,
        site=site,
        actor=request.actor,
        now=request.context.clock.now(),
        listed=(Severity.ERROR, Severity.WARNING),
    )
    if isinstance(outcome, SubmissionReceipt):
        await refresh_summary(context, site)
        return SentClaims(results=tuple(outcome.results))
    return SentClaims(faults=tuple(_faults(outcome)))


def _named_form(content: bytes) -> AnyForm | None:
    """Return the form that the ``DocumentType`` of a document names; None if it names none, or is not JSON."""
    try:
        top: Mapping[str, object] = msgspec.json.decode(
            content.removeprefix(b"\xef\xbb\xbf"), type=dict[str, msgspec.Raw]
        )
        named = next((one for key, one in top.items() if key.lower() == "documenttype"), None)
        text = msgspec.json.decode(named, type=str) if isinstance(named, msgspec.Raw) else ""
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    wanted = text.strip().lower()
    return next((one for one in FORMS.values() if one.document_type.lower() == wanted), None)


def _faults(outcome: SubmissionResult) -> Sequence[str]:
    if isinstance(outcome, MalformedDocument):
        return [": ".join(filter(None, (one.location, one.message))) for one in outcome.findings]
    if isinstance(outcome, TooManyClaims):
        return [f"A document has at most {outcome.claims_max:,} claims. Send it in parts."]
    return [NOT_STORED]


def _render(
    request: PageRequest, *, status: int = 200, fault: str = "", sent: SentClaims | None = None
) -> Response:
    return request.render(
        "send_claims.html",
        "Send claims",
        status,
        path=PATH,
        of_sites=request.chosen_sites,
        of=request.form.get("of"),
        text=request.form.get("text") if fault or (sent and sent.faults) else "",
        fault=fault,
        sent=sent,
        listed_max=CLAIMS_LISTED_MAX,
        findings_max=FINDINGS_LISTED_MAX,
        bytes_max=FILE_BYTES_MAX,
    )
