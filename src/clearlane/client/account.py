"""The address and credentials of a vendor's calls, from arguments, a sandbox or the environment.

The password never prints. Knows no transport.
"""

import json
import os
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from clearlane.client.calls import V3, Call
from clearlane.client.errors import InvalidRequest
from clearlane.client.transport import Request

SANDBOX_FILE = "sandbox.json"
DATA_VARIABLE = "CLEARLANE_DATA"
DATA_DEFAULT = ".data"
# Environment variables of a vendor's program, distinct from the settings of the service.
URL, KEY, PASSWORD, SITE, CA_FILE = (
    f"CLEARLANE_CLIENT_{name}" for name in ("URL", "KEY", "PASSWORD", "SITE", "CA_FILE")
)

SITE_MISSING = f"This call is for one site of the vendor: give it (`site`, --site or {SITE})."


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The address, credentials and site of every call."""

    base_url: str
    key: str
    password: str = field(repr=False)
    site: str | None
    """None for calls of Clearlane's own API alone, which are about all sites of the vendor."""
    ca_file: str | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme != "https" or not parts.hostname:
            raise ValueError("base_url must begin with https:// and name a host.")
        if parts.username or parts.password:
            raise ValueError("base_url must not hold credentials: give key and password.")
        if parts.query or parts.fragment:
            raise ValueError("base_url is the address alone, without ? or #.")
        missing = [n for n in ("key", "password", "site") if getattr(self, n) == ""]
        if missing:
            raise ValueError(f"{' and '.join(missing)} must be given.")
        if ":" in self.key:
            raise ValueError("A vendor key has no colon in it.")

    @classmethod
    def of(
        cls, url: str, key: str, password: str, site: str, ca_file: Path | str | None = None
    ) -> "Account":
        """Return the account of an address and credentials."""
        trusted = str(ca_file) if ca_file else None
        return cls(base_url=url, key=key, password=password, site=site, ca_file=trusted)

    def request(self, call: Call[Any]) -> Request:
        """Return a call as a request of this account."""
        # A call of V1 names a site only if it is for one site.
        if call.version == V3 and self.site is None:
            raise InvalidRequest(SITE_MISSING, call=call.name)
        site = {"vendorSiteId": self.site} if call.version == V3 else {}
        query = urlencode({**site, **call.query}, quote_via=quote)
        return Request(
            name=call.name,
            url=f"{self.base_url.rstrip('/')}/{call.version}/{call.path}?{query}",
            headers={
                "Authorization": f"Basic {b64encode(self._pair).decode()}",
                "Content-Type": call.content_type,
                "Content-Length": str(len(call.body)),
                "Accept": "*/*" if call.reads_text else "application/json",
                "Accept-Encoding": "gzip",
                "User-Agent": "clearlane-client",
                **({"Idempotency-Key": call.idempotency_key} if call.idempotency_key else {}),
            },
            body=call.body,
            timeout_seconds=call.timeout_seconds,
            verb=call.verb,
        )

    @property
    def _pair(self) -> bytes:
        return f"{self.key}:{self.password}".encode()


def from_sandbox(data: Path | str | None = None) -> Account:
    """Return the account that a running sandbox wrote into its data directory."""
    directory = Path(data or os.environ.get(DATA_VARIABLE) or DATA_DEFAULT).expanduser()
    file = directory / SANDBOX_FILE
    try:
        facts = json.loads(file.read_bytes())
    except OSError as fault:
        raise FileNotFoundError(
            f"{file} cannot be read ({fault.strerror}). A sandbox writes it when it starts: "
            "clearlane serve --data DIRECTORY."
        ) from None
    except ValueError:
        raise ValueError(f"{file} is not JSON.") from None
    if not isinstance(facts, dict):
        raise ValueError(f"{file} holds no sandbox.")  # noqa: TRY004  (what is wrong is the file)
    return _account(facts, directory, file)


def from_environment(environ: Mapping[str, str] | None = None) -> Account:
    """Return the account from environment variables: CLEARLANE_CLIENT_URL, _KEY, _PASSWORD, _SITE, _CA_FILE."""
    environ = os.environ if environ is None else environ
    missing = [name for name in (URL, KEY, PASSWORD, SITE) if not environ.get(name)]
    if missing:
        raise ValueError(f"The environment lacks {', '.join(missing)}.")
    return Account(
        base_url=environ[URL],
        key=environ[KEY],
        password=environ[PASSWORD],
        site=environ[SITE],
        ca_file=environ.get(CA_FILE) or None,
    )


def _account(facts: Mapping[str, Any], directory: Path, file: Path) -> Account:
    try:
        ca_file = facts.get("ca_file")
        if ca_file and not Path(ca_file).is_file():
            # The directory was moved, or is mounted in a container: use the authority inside it.
            moved = directory / "tls" / Path(ca_file).name
            ca_file = str(moved) if moved.is_file() else ca_file
        return Account(
            base_url=facts["base_url"],
            key=facts["vendor_key"],
            password=facts["vendor_password"] or "",
            site=facts["vendor_site_id"],
            ca_file=ca_file,
        )
    except KeyError as missing:
        raise ValueError(f"{file} lacks {missing}.") from None
    except ValueError as fault:
        raise ValueError(f"{file}: {fault}") from None
