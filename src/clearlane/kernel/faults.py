"""Faults of our own work, described by code and source position, never by message text.

An exception's text may quote patient data, so logs and the engine's tables keep only what this module returns.
"""

import re
import traceback
from pathlib import Path

FAULT_CODE_CHARACTERS_MAX = 128
FRAMES_SHOWN_MAX = 4

_CODE = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._:/+-]{{0,{FAULT_CODE_CHARACTERS_MAX - 1}}}")


class WorkFailed(Exception):
    """Work that cannot continue. Carries a one-word code and no other text, because the engine stores it in clear."""

    def __init__(self, code: str) -> None:
        super().__init__(code if _CODE.fullmatch(code) else "unnamed")

    @property
    def code(self) -> str:
        """The fault in one word."""
        return str(self.args[0])


def fault_code(fault: BaseException) -> str:
    """Return the code of a fault as it may be logged or stored: its own code, or its type's name."""
    return fault.code if isinstance(fault, WorkFailed) else type(fault).__name__


def fault_frames(fault: BaseException) -> list[str]:
    """Return where a fault was raised, innermost frame last: files and lines, no values."""
    frames = traceback.extract_tb(fault.__traceback__)[-FRAMES_SHOWN_MAX:]
    return [f"{_last_two_parts(frame.filename)}:{frame.lineno}" for frame in frames]


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


def _last_two_parts(path: str) -> str:
    return "/".join(Path(path).parts[-2:])
