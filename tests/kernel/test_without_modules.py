"""Tests `kernel/without_modules`: a library does not find what it should not load, and others do afterwards."""

import sys

import pytest

from clearlane.kernel.without_modules import without_modules

NAME = "this"


def _import() -> None:
    __import__(NAME)


@pytest.fixture(autouse=True)
def _not_loaded(monkeypatch):
    monkeypatch.delitem(sys.modules, NAME, raising=False)


def test_an_import_of_a_module_fails_inside_the_block_and_not_after_it(capsys):
    with without_modules(NAME), pytest.raises(ImportError):
        _import()
    _import()
    assert NAME in sys.modules


def test_what_is_loaded_already_stays(capsys):
    _import()
    with without_modules(NAME):
        _import()
    assert NAME in sys.modules


def test_the_module_is_there_again_after_a_fault():
    with pytest.raises(ZeroDivisionError), without_modules(NAME):
        _ = 1 / 0
    assert NAME not in sys.modules
