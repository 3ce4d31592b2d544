"""The available guides, found by version (GS08, ST03) or by kind.

Each guide is the constant ``GUIDE`` of a module of this package, imported on first use. Knows no file and no finding.
"""

from functools import cache
from importlib import import_module

from clearlane.x12.grammar import Guide

# By kind: the transaction (ST01), the guide number, and the module.
MODULES: dict[str, tuple[str, str, str]] = {
    "837P": ("837", "005010X222", "g837p"),
    "837D": ("837", "005010X224", "g837d"),
    "837I": ("837", "005010X223", "g837i"),
    "270": ("270", "005010X279", "g270"),
    "271": ("271", "005010X279", "g271"),
    "276": ("276", "005010X212", "g276"),
    "277": ("277", "005010X212", "g277"),
    "277CA": ("277", "005010X214", "g277ca"),
    "835": ("835", "005010X221", "g835"),
    "999": ("999", "005010X231", "g999"),
}
KINDS = tuple(MODULES)
NUMBER_CHARACTERS = len("005010X222")

_KIND_BY_NUMBER = {
    (transaction, number): kind for kind, (transaction, number, _) in MODULES.items()
}


@cache
def by_kind(kind: str) -> Guide:
    """Return the guide of a kind such as ``837P``; raise KeyError for a kind that is not in ``KINDS``."""
    guide: Guide = import_module(f"{__name__}.{MODULES[kind][2]}").GUIDE
    return guide


def by_version(transaction: str, version: str) -> Guide | None:
    """Return the guide for ST01 and a version: its own id or that of another erratum; else None."""
    kind = _KIND_BY_NUMBER.get((transaction, version[:NUMBER_CHARACTERS]))
    if kind is None:
        return None
    guide = by_kind(kind)
    return guide if version in guide.all_ids else None
