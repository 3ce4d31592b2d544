"""Keep what a person typed while their session ended: sealed, inside the sign-in page of their browser.

    kept = await seal_form(vault, form, path, now)          # goes into the sign-in page
    form = await open_form(database, vault, kept, path, now)              # after signing in; None if it is too old or not ours

Nothing is stored, and nothing is put into an address. The form belongs to one path; what it shows is decided there, by
the role and the sites of the user who signed in. After an explicit sign-out nothing is kept: a user who signs out leaves nothing behind
for the next person, and without the session's cookie our form cannot be distinguished from a foreign page's. Knows no page.
"""

import base64
import binascii
from datetime import datetime, timedelta

import msgspec

from clearlane.console.frame.forms import CSRF_FIELD, FormFields
from clearlane.kernel.clock import from_micros, to_micros
from clearlane.kernel.ids import NO_VENDOR
from clearlane.store.database.database import Database, SystemScope
from clearlane.store.vault.vault import InvalidSeal, KeyNotLoaded, Vault

KEPT_FIELD = "kept"
KEPT_MINUTES_MAX = 60
KEPT_CHARACTERS_MAX = 48 * 1024
PURPOSE = "kept form"
SCOPE = SystemScope("the keys of a form that was kept while its session ended")


class _KeptForm(msgspec.Struct, frozen=True):
    at: int
    pairs: list[tuple[str, str]]


async def seal_form(vault: Vault, form: FormFields, path: str, now: datetime) -> str:
    """Return a form's content for the sign-in page; empty if it has none, or too much."""
    pairs = [(name, value) for name, value in form.pairs if name not in {CSRF_FIELD, KEPT_FIELD}]
    if not pairs:
        return ""
    await vault.ensure_key(NO_VENDOR)
    content = msgspec.json.encode(_KeptForm(to_micros(now), pairs))
    text = base64.urlsafe_b64encode(vault.seal(NO_VENDOR, PURPOSE, path, content)).decode()
    return text if len(text) <= KEPT_CHARACTERS_MAX else ""


async def open_form(
    database: Database, vault: Vault, text: str, path: str, now: datetime
) -> FormFields | None:
    """Return the content of a kept form; None if it is too old, or was not sealed here for this path."""
    try:
        sealed = base64.b64decode(text[:KEPT_CHARACTERS_MAX], altchars=b"-_", validate=True)
        async with database.read(SCOPE) as tx:
            await vault.load_keys_of(tx, [sealed])  # another node may have made the key
        content = vault.open(NO_VENDOR, PURPOSE, path, sealed)
    except (ValueError, binascii.Error, InvalidSeal, KeyNotLoaded):
        return None
    kept = msgspec.json.decode(content, type=_KeptForm)
    if now - from_micros(kept.at) > timedelta(minutes=KEPT_MINUTES_MAX):
        return None
    return FormFields(tuple(kept.pairs))
