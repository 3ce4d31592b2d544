"""The client for threads is what its script writes from the client for an event loop.

Also tests `client/sync_resources` and `client/sync_transport`.
"""

import ast

import pytest

from tools import sync_client


@pytest.mark.parametrize(
    ("source", "target"), sync_client.targets().items(), ids=lambda file: file.name
)
def test_the_client_for_threads_is_written_by_its_script(source, target):
    written = target.read_text(encoding="utf-8")
    assert written == sync_client.text(source), f"{target.name} is old: run `make format`"
    waits = (ast.Await, ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith)
    assert not [one for one in ast.walk(ast.parse(written)) if isinstance(one, waits)]


def test_every_file_for_threads_has_a_source():
    assert set(sync_client.CLIENT.glob("sync_*.py")) == set(sync_client.targets().values())
