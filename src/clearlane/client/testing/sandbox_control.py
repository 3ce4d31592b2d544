"""The clock of a sandbox, and the modes of its payers, over the sandbox's own API.

    sandbox = SandboxControl(from_sandbox())
    sandbox.advance("14d")              # returns when everything that is due then has been posted

A production service does not have this API: calls to it raise ``NotFound``.
"""

import json
from base64 import b64encode
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import httpx

from clearlane.client.account import Account
from clearlane.client.errors import AnswerLost, NotReached, error_from_response
from clearlane.client.https import tls_context
from clearlane.client.transport import Response

ADVANCE_SECONDS_MAX = 3_600
"""How long an advance may take: it ends when everything due is posted."""


class SandboxControl:
    """What only a sandbox can do, with the credentials of an account."""

    def __init__(self, account: Account) -> None:
        self._account = account
        pair = b64encode(f"{account.key}:{account.password}".encode()).decode()
        self._headers = {"Authorization": f"Basic {pair}", "Content-Type": "application/json"}

    def clock(self, **change: bool | float) -> dict[str, Any]:
        """Return the clock; first change it by ``Frozen`` or ``SecondsPerDay``."""
        found: dict[str, Any] = self.call("clock", change)
        return found

    def advance(self, by: str | timedelta) -> dict[str, Any]:
        """Advance the clock by a time such as ``14d`` or ``36h``, for dates and payers; return the clock."""
        length = f"{int(by.total_seconds())}s" if isinstance(by, timedelta) else by
        found: dict[str, Any] = self.call("advance", {"By": length})
        return found

    def payers(self) -> list[dict[str, Any]]:
        """Return the payers and their modes."""
        found: list[dict[str, Any]] = self.call("payers")
        return found

    def set_mode(self, payer_id: str, mode: str) -> list[dict[str, Any]]:
        """Set the mode of a payer: up, down, slow or garbage; return all payers."""
        found: list[dict[str, Any]] = self.call("payers", {"PayerId": payer_id, "Mode": mode})
        return found

    def call(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Call the sandbox API; return its JSON, or raise an error of the client."""
        account = self._account
        url = f"{account.base_url.rstrip('/')}/sandbox/{path}?{urlencode({'vendorSiteId': account.site})}"
        content = None if body is None else json.dumps(body)
        try:
            with httpx.Client(
                verify=tls_context(account.ca_file), timeout=ADVANCE_SECONDS_MAX
            ) as client:
                verb = "GET" if body is None else "POST"
                answer = client.request(verb, url, headers=self._headers, content=content)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            # The library's message may contain the whole address with its query.
            unreached = f"The service cannot be reached at {account.base_url}."
            raise NotReached(unreached, call=path) from None
        except httpx.HTTPError:
            raise AnswerLost("The answer did not arrive.", call=path) from None
        if answer.status_code != httpx.codes.OK:
            got = Response(answer.status_code, dict(answer.headers), answer.content)
            raise error_from_response(path, got)
        return answer.json()
