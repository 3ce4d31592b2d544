"""A program of a vendor that calls `/clearlane/v1`, answered in this process."""

import httpx

from clearlane.api.frame.app import ApiApplication
from clearlane.api.frame.endpoint import ApiLimits
from clearlane.api.http.proxies import TrustedProxies
from clearlane.api.operations.metrics import Metrics
from clearlane.api.versions import DEFAULT_VERSION, VERSIONS
from tests.console.sandbox_console import SandboxConsole


class VendorProgram:
    """A program of a vendor, with the vendor's password or an API key."""

    def __init__(self, sandbox: SandboxConsole, vendor: str = "ACME", api_key: str = "") -> None:
        app = ApiApplication(
            sandbox.installation,
            [each for version in VERSIONS for each in version.endpoints],
            errors=DEFAULT_VERSION.errors,
            limits=ApiLimits(),
            metrics=Metrics(),
            proxies=TrustedProxies(),
            sandbox=True,
            shapes={version.prefix: version.errors for version in VERSIONS},
        )
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app),
            base_url="https://clearlane.test/clearlane/v1/",
            auth=None if api_key else (vendor, sandbox.passwords[vendor]),
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
        )

    async def every(self, path, **query):
        """Return the objects of all pages of a list."""
        found, after = [], None
        while True:
            page = {"limit": 20, **query} | ({"after": after} if after else {})
            answer = await self.client.get(path, params=page)
            assert answer.status_code == 200, answer.text
            found += answer.json()["data"]
            if (after := answer.json()["next"]) is None:
                return found
