"""How a call ends early, and which faults say "later" rather than "we are wrong".

Knows no check and no route. A refusal is raised with its answer in hand; anything else that is
raised is a fault of ours, told without its text, because the text of an exception can hold
patient data.
"""

from pathlib import Path

from starlette.responses import Response

from clearlane.store.group_commit import Contended, Unavailable


class Refusal(Exception):
    """The call ends here with this answer."""

    def __init__(self, answer: Response) -> None:
        super().__init__(answer.status_code)
        self.answer = answer


class ClientGone(Exception):
    """The caller closed the connection before the call was read. There is nobody to answer."""


# What is raised when a part of the service does not answer: the same call may pass later.
UNRESPONSIVE = (Unavailable, Contended, TimeoutError, ConnectionError)


def place(fault: BaseException) -> str:
    """Where a fault was raised: file, line and function, and nothing that it says."""
    innermost = fault.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    if innermost is None:
        return ""
    code = innermost.tb_frame.f_code
    file = "/".join(Path(code.co_filename).parts[-3:])
    return f"{file}:{innermost.tb_lineno} {code.co_name}"
