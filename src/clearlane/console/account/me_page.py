"""One's own page: a password, a second factor with a QR code and recovery codes, and one's sessions.

Recovery codes are shown once, in the answer to the form that made them.
"""

import base64
import binascii
import secrets
from collections.abc import Sequence

from starlette.responses import Response

from clearlane.accounts import totp
from clearlane.accounts.totp import TOTP_SECRET_BYTES
from clearlane.console.account.qr_code import qr_path
from clearlane.console.frame.act_question import NEEDS_CREDENTIALS, ActQuestion, AskFirst
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import EVERYBODY, PageRows
from clearlane.kernel.finding import Finding
from clearlane.pipeline.access import invitations
from clearlane.pipeline.access.invitations import CredentialSetup
from clearlane.pipeline.access.sign_in import session_hash
from clearlane.store.accounts import console_credentials, console_users, recovery_codes
from clearlane.store.accounts.accounts import AccountRefused

pages = PageRows(roles=EVERYBODY, menu="/me")

STORED = "Your password and second factor are stored. Other sessions have ended."
RENEWED = "You have new recovery codes. The earlier ones no longer work."
NOTICES = {
    "ended": "Your other sessions have ended.",
}


@pages.page("/me", notices=NOTICES)
async def show_me(request: PageRequest) -> Response:
    """Show the forms for one's own password, second factor and recovery codes, and one's sessions."""
    return await _render(request)


@pages.act("/me/credentials", NEEDS_CREDENTIALS, roles=EVERYBODY)
async def store_credentials(request: PageRequest) -> Response:
    """Store the password and second factor that the person chose, and show the recovery codes once."""
    form = request.form
    secret = _read_secret(form.get("secret"))
    setup = CredentialSetup(
        current=form.get("current"),
        password=form.get("password"),
        repeated=form.get("repeated"),
        secret=secret,
        code=form.get("code"),
    )
    try:
        codes = await invitations.set_up(
            request.context.work_context,
            request.signed_in_user,
            setup,
            keep=request.session,
            now=request.now,
            actor=request.actor,
        )
    except AccountRefused as why:
        return await _render(
            request, secret=secret, findings=why.findings, changing=True, status=400
        )
    return await _render(request, codes=codes, stored=STORED)


@pages.act("/me/recovery-codes", NEEDS_CREDENTIALS, roles=EVERYBODY)
async def renew_codes(request: PageRequest) -> Response:
    """Replace the recovery codes of a person who shows a code, and show the new ones once."""
    try:
        codes = await invitations.renew_recovery_codes(
            request.context.work_context,
            request.signed_in_user,
            request.form.get("code"),
            now=request.now,
            actor=request.actor,
        )
    except AccountRefused as why:
        return await _render(request, findings=why.findings, status=400)
    return await _render(request, codes=codes, stored=RENEWED)


@pages.act(
    "/me/sessions",
    AskFirst(
        back="/me",
        question=ActQuestion(
            title="End your other sessions?",
            sentence="You are signed out everywhere else, and anything typed there but not saved is lost.",
            button="End the others",
        ),
    ),
    roles=EVERYBODY,
)
async def end_sessions(request: PageRequest) -> Response:
    """End every session but this one."""
    keep = session_hash(request.context.vault, request.session)
    user = request.signed_in_user
    await request.context.database.write(
        console_users.SCOPE,
        lambda tx: console_credentials.end_other_sessions(tx, user, keep),
        actor=request.actor,
    )
    return request.redirect("/me", done="ended")


def _read_secret(text: str) -> bytes:
    try:
        secret = base64.b32decode(text, casefold=True)
    except (binascii.Error, ValueError):
        secret = b""
    return secret if len(secret) == TOTP_SECRET_BYTES else secrets.token_bytes(TOTP_SECRET_BYTES)


async def _render(
    request: PageRequest,
    *,
    secret: bytes = b"",
    findings: Sequence[Finding] = (),
    codes: Sequence[str] = (),
    stored: str = "",
    changing: bool = False,
    status: int = 200,
) -> Response:
    user = request.signed_in_user
    secret = secret or secrets.token_bytes(TOTP_SECRET_BYTES)
    this = session_hash(request.context.vault, request.session)
    async with request.context.database.read(console_users.SCOPE) as tx:
        sessions = await console_credentials.list_sessions(tx, user, request.now)
        codes_left = await recovery_codes.count_codes(tx, user)
    path, width = qr_path(totp.provisioning_uri(secret, user.name))
    return request.render(
        "me.html",
        "Your account",
        status,
        secret=base64.b32encode(secret).decode(),
        qr=path,
        width=width,
        findings=findings,
        codes=codes,
        stored=stored,
        changing=changing,
        codes_left=codes_left,
        has_password=await invitations.has_password(request.context.work_context, user),
        sessions=[(one, one.session_hash == this) for one in sessions],
    )
