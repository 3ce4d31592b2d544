"""Record when API keys were last used, beside the calls: the first use at once, later ones once a minute.

A call notes its key in memory and waits for nothing. What a node that dies has not recorded is lost: a minute at most.
Knows no HTTP.
"""

import asyncio
from datetime import datetime

from clearlane.kernel.log import get_logger
from clearlane.store.accounts.api_keys import record_key_uses
from clearlane.store.database.database import Actor, Database
from clearlane.store.database.group_commit import StoreFault

log = get_logger()

RECORDED_SECONDS = 60.0


class ApiKeyUses:
    """The last uses of API keys on this node."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # Keys whose use was recorded in this minute, with a later use that is not recorded yet.
        self._recent: dict[str, datetime | None] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def record(self, id: str, now: datetime) -> None:
        """Note the use of a key; record it soon if it is its first in this minute."""
        if id in self._recent:
            self._recent[id] = now
            return
        if not self._recent:
            asyncio.get_running_loop().call_later(RECORDED_SECONDS, self._record_noted)
        self._recent[id] = None
        self._write({id: now})

    def _record_noted(self) -> None:
        """Record the uses that were noted since, and begin another minute with their keys."""
        noted = {id: at for id, at in self._recent.items() if at is not None}
        self._recent = dict.fromkeys(noted)
        if noted:
            asyncio.get_running_loop().call_later(RECORDED_SECONDS, self._record_noted)
            self._write(noted)

    def _write(self, uses: dict[str, datetime]) -> None:
        task = asyncio.get_running_loop().create_task(self._store(uses))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _store(self, uses: dict[str, datetime]) -> None:
        try:
            await record_key_uses(self._database, uses, actor=Actor("node", "api keys"))
        except StoreFault as fault:  # the call is served all the same
            log.warning("use of API keys not recorded", fault=type(fault).__name__)
