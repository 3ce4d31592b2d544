"""pyx12 as a witness: another library that reads X12 by the guides and says what it finds wrong.

It reads its maps from XML for each file, which takes longer than to look at most files. Nothing in a map changes while a
file is read, so that each is read once here.
"""

import io
from functools import cache

import pyx12.map_if
import pyx12.map_index
import pyx12.params
import pyx12.x12n_document

PARAMETERS = pyx12.params.params()
_load_map_file = pyx12.map_if.load_map_file


@cache
def _map_of(name: str) -> pyx12.map_if.map_if:
    return _load_map_file(name, PARAMETERS)


pyx12.map_if.load_map_file = lambda name, *_: _map_of(name)
pyx12.map_index.map_index = cache(pyx12.map_index.map_index)


def is_accepted(content: bytes | str) -> bool:
    """Return whether pyx12 accepts an interchange; what it says against it is in the log."""
    text = io.StringIO(content.decode() if isinstance(content, bytes) else content)
    read = pyx12.x12n_document.x12n_document
    return bool(read(PARAMETERS, text, fd_997=None, fd_html=None))
