"""How a request ends early, and which faults are temporary.

A refusal carries its response. Any other exception is a fault of the service and is logged without its
text, which can hold patient data. Knows no check and no endpoint.
"""

from starlette.responses import Response

from clearlane.store.database import group_commit


class RequestRefusal(Exception):
    """Ends the request with the response it carries."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status_code)
        self.response = response


class ParameterFault(Exception):
    """A query parameter that cannot be read; the text says what would pass. All of a call are answered together."""


class ClientGone(Exception):
    """The caller closed the connection before the request was read."""


# Raised when a part of the service does not respond: the same request may succeed later (503).
TEMPORARY_FAULTS = (*group_commit.TEMPORARY_FAULTS, ConnectionError)
