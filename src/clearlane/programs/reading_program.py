"""The program that reads files of payers beside the service, which starts it (``reading_process``).

    python -m clearlane.programs.reading_program < orders

It reads and does nothing else: it opens no installation, and gets no settings and no key. It ends with its pipe, so
also when the service is gone. No argument, environment variable or output but the pages holds a value of a claim.
"""

import gc
import os
import signal
import sys
from typing import BinaryIO

from clearlane.pipeline.helper_process import FRAME, READY
from clearlane.pipeline.inbound.reading_orders import FileReader


def main(source: BinaryIO, out: BinaryIO) -> int:
    """Do what is ordered until the pipe is closed, and return the exit status."""
    # A signal to all processes of the service does not end it half way: it ends with the pipe.
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    reader = FileReader()
    try:
        _write(out, READY, b"")
        while len(head := source.read(FRAME.size)) == FRAME.size:
            number, size = FRAME.unpack(head)
            _write(out, number, reader.answer(source.read(size)))
    except BrokenPipeError:
        return os.EX_UNAVAILABLE
    except Exception:  # noqa: BLE001  (its text may hold a value: the service notes that the process died)
        return os.EX_SOFTWARE
    return 0


def _write(out: BinaryIO, number: int, content: bytes) -> None:
    # The service always reads, so this never waits for long.
    out.write(FRAME.pack(number, len(content)))
    out.write(content)
    out.flush()


if __name__ == "__main__":
    sys.exit(main(sys.stdin.buffer, sys.stdout.buffer))
