"""One's own page: choose a password and a second factor with a QR code, see and end one's sessions."""

import base64
import binascii
import secrets
from collections.abc import Sequence

from starlette.responses import Response

from clearlane.accounts import totp
from clearlane.accounts.totp import TOTP_SECRET_BYTES
from clearlane.console.page_request import PageRequest
from clearlane.console.qr_code import qr_path
from clearlane.kernel.finding import Finding
from clearlane.pipeline.access import invitations
from clearlane.pipeline.access.invitations import CredentialSetup
from clearlane.pipeline.access.sign_in import session_hash
from clearlane.store import console_credentials
from clearlane.store import console_users as store

NOTICES = {
    "stored": "Your password and second factor are stored. Other sessions have ended.",
    "ended": "Your other sessions have ended.",
}


async def show_me(request: PageRequest) -> Response:
    """Show the forms for one's own password and second factor, and one's sessions."""
    return await _render(request, secrets.token_bytes(TOTP_SECRET_BYTES), ())


async def store_credentials(request: PageRequest) -> Response:
    """Store the password and second factor that the person chose."""
    form = request.form
    secret = _read_secret(form.get("secret"))
    findings = await invitations.set_up(
        request.context.work_context,
        request.signed_in_user,
        CredentialSetup(
            current=form.get("current"),
            password=form.get("password"),
            repeated=form.get("repeated"),
            secret=secret,
            code=form.get("code"),
        ),
        keep=request.session,
        now=request.now,
        actor=request.actor,
    )
    if findings:
        return await _render(request, secret, findings, status=400)
    return request.redirect("/me", done="stored")


async def end_sessions(request: PageRequest) -> Response:
    """End every session but this one."""
    keep = session_hash(request.context.vault, request.session)
    user = request.signed_in_user
    await request.context.database.write(
        store.SCOPE,
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
    request: PageRequest, secret: bytes, findings: Sequence[Finding], status: int = 200
) -> Response:
    user = request.signed_in_user
    this = session_hash(request.context.vault, request.session)
    async with request.context.database.read(store.SCOPE) as tx:
        sessions = await console_credentials.list_sessions(tx, user, request.now)
    path, width = qr_path(totp.provisioning_uri(secret, user.name))
    return request.render(
        "me.html",
        "Your account",
        status,
        secret=base64.b32encode(secret).decode(),
        qr=path,
        width=width,
        findings=findings,
        has_password=await invitations.has_password(request.context.work_context, user),
        sessions=[(one, one.session_hash == this) for one in sessions],
    )
