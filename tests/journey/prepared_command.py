"""A `clearlane` that starts at once, for pages that type it dozens of times: forked from a process that has imported the product.

What is typed is a small program that hands its arguments, environment, directory and streams over, and ends as the forked
process ends. The README is typed with the command as it is installed.
"""

import signal
import sys
from pathlib import Path

from tests.prepared_process import ANSWER_BYTES_MAX, forker

TYPED = """#!{python} -IS
import json, os, socket, sys
forker = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
forker.connect({address!r})
order = {{
    "module": None, "arguments": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd(), "if_left": {if_left},
}}
socket.send_fds(forker, [json.dumps(order).encode()], [0, 1, 2])
_process, ended = forker.recv({size}), int(forker.recv({size}))
sys.exit(ended if ended >= 0 else 128 - ended)
"""


def prepared_command(folder: Path) -> Path:
    """Return a folder, to be put first into PATH, with a `clearlane` that is forked."""
    programs = folder / "bin"
    programs.mkdir()
    typed = programs / "clearlane"
    typed.write_text(
        TYPED.format(
            python=sys.executable,
            address=forker().address,
            if_left=int(signal.SIGTERM),
            size=ANSWER_BYTES_MAX,
        )
    )
    typed.chmod(0o755)
    return programs
