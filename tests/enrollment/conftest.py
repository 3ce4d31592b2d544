"""What the tests of enrollment share."""

import asyncio

import pytest


@pytest.fixture
def in_thread():
    """Run a command beside the loop of the test, since a command has a loop of its own."""

    async def run(command, line, **options):
        return await asyncio.to_thread(command, line, **options)

    return run
