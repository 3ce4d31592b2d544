"""Each table is in the module that says so, and what speaks of all tables speaks of all. Tests `store/database/schema/__init__`."""

import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

from clearlane.store.database import schema

MODULES = {one.name for one in pkgutil.iter_modules(schema.__path__)} - {"partitions"}
# Prints which modules of tables are there after a program.
LOADED = """
import sys
print(*[name.rsplit(".", 1)[1] for name in sys.modules if name.startswith("clearlane.store.database.schema.")])
"""


def loaded_after(program):
    done = subprocess.run(
        [sys.executable, "-c", program + LOADED], check=True, capture_output=True, text=True
    )
    return {*done.stdout.split()}


def test_every_module_is_listed():
    assert set(schema.NAMES_OF) == MODULES


@pytest.mark.parametrize("module", sorted(MODULES))
def test_the_names_of_a_module_are_listed(module):
    found = import_module(f"{schema.__name__}.{module}")
    assert sorted(schema.NAMES_OF[module]) == sorted(found.__all__)
    assert all(getattr(schema, name) is getattr(found, name) for name in found.__all__)


def test_no_name_is_that_of_a_module():
    # An import of the module would put it in the place of the table.
    assert not MODULES & {name for names in schema.NAMES_OF.values() for name in names}


def test_a_name_that_no_module_has_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        schema.nothing  # noqa: B018


def test_a_table_brings_its_own_module_alone():
    loaded = loaded_after("from clearlane.store.database.schema import series_members\n")
    assert "series" in loaded
    assert not {"delivery", "payment_tables", "webhooks"} & loaded


@pytest.mark.parametrize("name", sorted(schema.OF_ALL_TABLES))
def test_all_tables_are_complete_also_after_one(name):
    program = f"""
from clearlane.store.database import schema
schema.claims
tables = schema.{name}
tables = getattr(tables, "tables", tables)
assert {{"claims", "webhook_endpoints", "payees"}} <= set(tables)
"""
    assert loaded_after(program) >= MODULES
