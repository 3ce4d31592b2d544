"""Statements of one row as PostgreSQL runs them for many rows at once.

    text = insert_text("INSERT INTO t (a, b) VALUES ($1::TEXT, $2::TEXT)", 2, rows=8)
    text = update_text("UPDATE t SET a=$1::TEXT WHERE t.id = $2::BIGINT", 2)      # takes an array for each value

Starting a statement costs the server as much as several rows, above all on a table with partitions: each of them is locked.
Knows the text that SQLAlchemy makes; knows no connection.
"""

import re
from functools import lru_cache

BLOCK_ROWS = (64, 8)
"""How many rows one INSERT has: each number is a statement that a connection prepares."""
TEXTS_KEPT_MAX = 1_024

_ROW = re.compile(r" VALUES (\(\$1\b[^()]*\))")
_CONFLICT = re.compile(r" ON CONFLICT \(([\w, ]+)\) DO UPDATE ")
_NUMBER = re.compile(r"\$(\d+)")
_BY_KEY = re.compile(r"UPDATE (\w+) SET (.+) WHERE \1\.(\w+) = \$(\d+)::(\w+)")
_ASSIGNED = re.compile(r"(\w+)=\$(\d+)::(\w+)(?:, |$)")


@lru_cache(maxsize=TEXTS_KEPT_MAX)
def insert_text(text: str, values: int, rows: int) -> str | None:
    """Return an INSERT of one row, written for several rows; None for any other statement."""
    found = _ROW.search(text)
    if found is None or "$" in text[found.end(1) :]:
        return None
    if _numbers(found[1]) != [*range(1, values + 1)]:
        return None
    head, row, tail = text[: found.start(1)], found[1], text[found.end(1) :]
    return head + ", ".join(_moved(row, at * values) for at in range(rows)) + tail


@lru_cache(maxsize=TEXTS_KEPT_MAX)
def replaced_key(text: str) -> tuple[str, ...]:
    """Return the key of the row that an INSERT changes if it is there; empty if it changes none.

    PostgreSQL refuses to insert two rows with one key by such a statement.
    """
    found = _CONFLICT.search(text)
    return tuple(found[1].split(", ")) if found else ()


@lru_cache(maxsize=TEXTS_KEPT_MAX)
def update_text(text: str, values: int) -> str | None:
    """Return an UPDATE of the row with a key, written for the rows with several keys; None for any other statement.

    It takes an array for each value; the last one is the keys, each once.
    """
    found = _BY_KEY.fullmatch(text)
    if found is None:
        return None
    table, assigned, key, last, type = found.groups()
    columns = _ASSIGNED.findall(assigned)
    is_whole = "".join(one[0] for one in _ASSIGNED.finditer(assigned)) == assigned
    if not is_whole or _numbers(text) != [*range(1, values + 1)]:
        return None
    types = [*(of for _, _, of in columns), type]
    arrays = ", ".join(f"${at}::{of}[]" for at, of in enumerate(types, 1))
    names = ", ".join(f"v{at}" for at in range(1, values + 1))
    changes = ", ".join(f"{name} = new.v{number}" for name, number, _ in columns)
    # The keys are also given as a list: only the partitions that have them are read, by their index.
    return (
        f"UPDATE {table} SET {changes} FROM unnest({arrays}) AS new ({names}) "
        f"WHERE {table}.{key} = ANY (${last}::{type}[]) AND {table}.{key} = new.v{last}"
    )


def _numbers(text: str) -> list[int]:
    return [int(number) for number in _NUMBER.findall(text)]


def _moved(row: str, by: int) -> str:
    """Return the values of one row with the numbers of a later one."""
    return _NUMBER.sub(lambda number: f"${int(number[1]) + by}", row)
