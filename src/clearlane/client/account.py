"""The address and credentials of a vendor's calls, from arguments, a sandbox or the environment.

Neither the password nor an API key prints. Knows no transport.
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
URL, KEY, PASSWORD, API_KEY, SITE, CA_FILE = (
    f"CLEARLANE_CLIENT_{name}" for name in ("URL", "KEY", "PASSWORD", "API_KEY", "SITE", "CA_FILE")
)

SITE_MISSING = f"This call is for one site of the vendor: give it (`site`, --site or {SITE})."
PASSWORD_MISSING = f"This call is one of V3, which takes no API key: give the vendor key and its password ({KEY}, {PASSWORD})."


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The address, credentials and site of every call."""

    base_url: str
    key: str = ""
    password: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)
    """For calls of Clearlane's own API; without it they are made with key and password too."""
    site: str | None = None
    """None for calls of Clearlane's own API alone, which are about all sites of the vendor."""
    ca_file: str | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme != "https" or not parts.hostname:
            raise ValueError("base_url must begin with https:// and name a host.")
        if parts.username or parts.password:
            raise ValueError(
                "base_url must not hold credentials: give key and password, or an API key."
            )
        if parts.query or parts.fragment:
            raise ValueError("base_url is the address alone, without ? or #.")
        needed = ("site",) if self.api_key else ("key", "password", "site")
        missing = [name for name in needed if getattr(self, name) == ""]
        if missing:
            raise ValueError(f"{' and '.join(missing)} must be given.")
        if ":" in self.key:
            raise ValueError("A vendor key has no colon in it.")

    @classmethod
    def of(
        cls,
        url: str,
        key: str,
        password: str,
        site: str,
        ca_file: Path | str | None = None,
        api_key: str = "",
    ) -> "Account":
        """Return the account of an address and credentials. With an API key it needs no site."""
        return cls(
            base_url=url,
            key=key,
            password=password,
            api_key=api_key,
            site=(site or None) if api_key else site,
            ca_file=str(ca_file) if ca_file else None,
        )

    def request(self, call: Call[Any]) -> Request:
        """Return a call as a request of this account."""
        # A call of V1 names a site only if it is for one site.
        if call.version == V3 and self.site is None:
            raise InvalidRequest(SITE_MISSING, call=call.name)
        if call.version == V3 and not self.password:
            raise InvalidRequest(PASSWORD_MISSING, call=call.name)
        site = {"vendorSiteId": self.site} if call.version == V3 else {}
        query = urlencode({**site, **call.query}, quote_via=quote)
        return Request(
            name=call.name,
            url=f"{self.base_url.rstrip('/')}/{call.version}/{call.path}?{query}",
            headers={
                "Authorization": self._authorization(call),
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

    def _authorization(self, call: Call[Any]) -> str:
        if self.api_key and call.version != V3:
            return f"Bearer {self.api_key}"
        return f"Basic {b64encode(f'{self.key}:{self.password}'.encode()).decode()}"


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
    """Return the account from environment variables: CLEARLANE_CLIENT_URL, _KEY, _PASSWORD, _API_KEY, _SITE, _CA_FILE.

    With an API key the vendor key, the password and the site may be missing.
    """
    environ = os.environ if environ is None else environ
    needed = (URL,) if environ.get(API_KEY) else (URL, KEY, PASSWORD, SITE)
    missing = [name for name in needed if not environ.get(name)]
    if missing:
        raise ValueError(f"The environment lacks {', '.join(missing)}.")
    return Account(
        base_url=environ[URL],
        key=environ.get(KEY, ""),
        password=environ.get(PASSWORD, ""),
        api_key=environ.get(API_KEY, ""),
        site=environ.get(SITE) or None,
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
