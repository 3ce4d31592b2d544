"""How a request ends early, and which faults are temporary.

A refusal carries its response. Any other exception is a fault of the service and is logged without its
text, which can hold patient data. Knows no check and no endpoint.
"""

from pathlib import Path

from starlette.responses import Response

from clearlane.store.database.group_commit import DatabaseUnavailable, LockContention


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
TEMPORARY_FAULTS = (DatabaseUnavailable, LockContention, TimeoutError, ConnectionError)


def raised_at(fault: BaseException) -> str:
    """Return where a fault was raised: file, line and function, without its text."""
    innermost = fault.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    if innermost is None:
        return ""
    code = innermost.tb_frame.f_code
    file = "/".join(Path(code.co_filename).parts[-3:])
    return f"{file}:{innermost.tb_lineno} {code.co_name}"
