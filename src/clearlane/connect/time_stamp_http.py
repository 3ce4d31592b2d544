"""Ask a time-stamping authority for a stamp (RFC 3161) over HTTP.

response = await request_stamp("http://time.example.org", request)    # raises StampRefused; says why in a sentence
"""

import httpx

STAMP_SECONDS_MAX = 20
STAMP_RESPONSE_BYTES_MAX = 64 * 1024
_REQUEST, _RESPONSE = "application/timestamp-query", "application/timestamp-reply"


class StampRefused(Exception):
    """No stamp came. The text says why, and holds nothing that the authority wrote."""


async def request_stamp(url: str, request: bytes) -> bytes:
    """Send a request to an authority; return its response as it came, within the limits."""
    headers = {"Content-Type": _REQUEST, "Accept": _RESPONSE}
    found = b""
    try:
        async with (
            httpx.AsyncClient(timeout=STAMP_SECONDS_MAX) as client,
            client.stream("POST", url, content=request, headers=headers) as response,
        ):
            if response.status_code != httpx.codes.OK:
                raise StampRefused(f"HTTP {response.status_code}")
            async for chunk in response.aiter_bytes():
                found += chunk
                if len(found) > STAMP_RESPONSE_BYTES_MAX:
                    raise StampRefused("the response is too long to be a stamp")
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as fault:
        raise StampRefused(type(fault).__name__) from None
    return found
