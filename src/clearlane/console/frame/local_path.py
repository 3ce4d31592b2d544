"""Paths of the console that a form or an address may name to come back to."""

import re

LOCAL_PATH_CHARACTERS_MAX = 2_000
_LOCAL = re.compile(r"/(?!/)[A-Za-z0-9._~/-]*(\?[A-Za-z0-9._~%&=+:/-]*)?", re.ASCII)


def local_path(text: str) -> str:
    """Return the path if it is one of the console, else that of Home: no one is sent elsewhere."""
    fits = len(text) <= LOCAL_PATH_CHARACTERS_MAX and _LOCAL.fullmatch(text)
    return text if fits else "/"
