"""The authorities that tests trust: none of the machine's.

Whoever makes a TLS context reads all authorities of the machine, which takes 50 milliseconds. Each test brings its own;
`authority.pem` has signed nothing, and its key is gone.
"""

import os
from collections.abc import Mapping
from pathlib import Path

FILE = Path(__file__).with_name("authority.pem")
VARIABLE = "SSL_CERT_FILE"
"""Where OpenSSL reads the authorities of the machine."""

_BEFORE = {VARIABLE: os.environ[VARIABLE]} if VARIABLE in os.environ else {}


def trust_none_of_the_machine() -> None:
    """Let this process and those it starts read one authority, which nobody uses."""
    os.environ[VARIABLE] = str(FILE)


def environment_with_authorities() -> Mapping[str, str]:
    """Return the environment for a process that reaches other machines."""
    own = {name: value for name, value in os.environ.items() if name != VARIABLE}
    return own | _BEFORE
