"""A sandbox to record from, and what was recorded: requests and answers by endpoint, for ``record_examples`` and ``record_v1``."""

import json
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import httpx

SHOWN_AS = "https://127.0.0.1:8443"
ITEMS_SHOWN_MAX = 2
INSTANCE = "5d4f8a52-7f0e-4c44-9b5e-6a1f0f6f8f11"
TOKEN_SHOWN = "PYtaq0pZzXnYvSPoD3nBqF7s0ZHn3eJ2"  # noqa: S105  (a text that opens nothing)
CALL_SECONDS_MAX = 120


class Sandbox:
    """A running sandbox and the credentials to call it."""

    def __init__(self, data: Path) -> None:
        self.facts = json.loads((data / "sandbox.json").read_text(encoding="utf-8"))
        self._client = httpx.Client(
            base_url=self.facts["base_url"],
            verify=ssl.create_default_context(cafile=str(data / "tls" / "ca.pem")),
            auth=(self.facts["vendor_key"], self.facts["vendor_password"]),
            timeout=CALL_SECONDS_MAX,
            trust_env=False,
        )

    def post(self, path: str, body: Any = None, **query: str | int | bool) -> httpx.Response:
        """Make a call of V3 or of the sandbox itself."""
        return self.request("POST", path, body, vendorSiteId=self.site, **query)

    def request(
        self, verb: str, path: str, body: Any = None, **query: str | int | bool
    ) -> httpx.Response:
        """Make any call."""
        sent = {"content": body} if isinstance(body, bytes) else {"json": body}
        return self._client.request(verb, path, params=query, **sent)

    @property
    def site(self) -> str:
        """The id of the sandbox's site."""
        return str(self.facts["vendor_site_id"])

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def today(self) -> date:
        """Return the sandbox's day."""
        return date.fromisoformat(self.post("/sandbox/clock", {}).json()["Now"][:10])


@dataclass
class Recording:
    """The calls of one API version: where they begin, how they name the site, and what was recorded by endpoint."""

    sandbox: Sandbox
    prefix: str = "/api/v3/"
    site_parameter: str = "vendorSiteId"
    endpoints: dict[str, Any] = field(default_factory=dict)
    shown_as: dict[str, str] = field(default_factory=dict)
    """What is written otherwise: addresses of this machine, secrets."""

    def call(
        self,
        name: str,
        path: str,
        example: str,
        body: Any = None,
        /,
        *,
        verb: str = "POST",
        at: Mapping[str, str] | None = None,
        **query: str | int | bool,
    ) -> Any:
        """Make a call, keep request and answer under a name, and return the answer; ``at`` fills the path."""
        given = {self.site_parameter: self.sandbox.site, **query}
        answer = self.sandbox.request(verb, self.prefix + path.format(**at or {}), body, **given)
        kept = self.endpoints.setdefault(name, {"parameters": {}, "request": {}, "responses": {}})
        is_json = "json" in answer.headers.get("content-type", "")
        content = answer.json() if is_json else answer.text
        kept["responses"].setdefault(str(answer.status_code), {})[example] = self._shown(content)
        if answer.is_success:
            kept["parameters"] |= {**given, **(at or {})}
            if body is not None:
                text = body.decode() if isinstance(body, bytes) else body
                kept["request"][example] = self._shown(text)
        return content

    def _shown(self, content: Any) -> Any:
        """Shorten long lists, and name the usual address."""
        if isinstance(content, list):
            content = content[:ITEMS_SHOWN_MAX]
        elif isinstance(content, dict) and isinstance(content.get("data"), list):
            content = {**content, "data": content["data"][:ITEMS_SHOWN_MAX]}
        text = json.dumps(content)
        for found, shown in {self.sandbox.facts["base_url"]: SHOWN_AS, **self.shown_as}.items():
            text = text.replace(found, shown)
        return json.loads(text)


@contextmanager
def running_sandbox(data: Path) -> Iterator[Sandbox]:
    """Start a sandbox, give it, and stop it."""
    command = [sys.executable, "-m", "clearlane", "serve", "--data", str(data), "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            for line in process.stdout or ():
                if line.startswith("clearlane ready "):
                    break
            with closing(Sandbox(data)) as sandbox:
                yield sandbox
        finally:
            process.terminate()
            process.wait()
