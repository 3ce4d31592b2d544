"""Trials of code lists: what an edition would change over stored claims. Counts and claim numbers are kept, nothing else.

    trial = await begin_trial(...)                            # with the edition that was loaded for it
    held = await lease_trial(database, holder, actor=actor)   # one run of one node works on it
    await save_progress(...)                                  # what a few pages found, and how far they came
    await end_trial(...)                                      # done, or canceled by a person

A run has the lease of a trial for some seconds, and renews it with each progress; the trial of a node that died is
continued by another. Times are the database's. Knows no claim beyond its number.
"""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from sqlalchemy import BigInteger, Integer, bindparam, delete, select, update

from clearlane.store.database.database import (
    Actor,
    Database,
    SystemScope,
    Tx,
    find_row,
    list_rows,
    require_row,
)
from clearlane.store.database.schema import code_trial_claims, code_trials
from clearlane.store.database.sql import Statement, database_now, insert_into, select_as
from clearlane.store.installation import code_lists

SCOPE = SystemScope("a trial of a code list reads the claims of all clients")
OPEN, DONE, CANCELED = "open", "done", "canceled"
ENDING, PASSING = "ending", "passing"
"""A claim uses a code that ends; a claim that was not accepted would lose an error."""
LEASE_SECONDS = 60
TRIALS_KEPT_MAX = 20


class CodeTrial(NamedTuple):
    """A row of ``code_trials``."""

    id: int
    list: str
    edition: int
    first_day: str
    last_day: str
    source: str
    state: str
    started_by: str
    started_at: int
    ended_at: int | None
    first_number: str
    last_number: str
    through: str
    total: int
    read: int
    ending: int
    passing: int
    codes: str
    """How many claims use each code that ends, as JSON."""
    holder: str


class NewTrial(NamedTuple):
    """A trial that begins: over the claims whose numbers are between two, and how many these are."""

    edition: int
    first_number: str
    last_number: str
    total: int
    first_claim_day: date
    """The first day of the period, for the audit trail."""


class TrialProgress(NamedTuple):
    """How far a run came, and what it found since it saved last."""

    through: str
    read: int
    ending: int
    passing: int
    codes: str
    found: Sequence[tuple[str, str]] = ()
    """Change and claim number of each claim that is to be kept."""


async def begin_trial(database: Database, new: NewTrial, *, actor: Actor) -> CodeTrial:
    """Put an edition that was loaded on trial, and let the nodes begin; old trials go."""
    count = await code_lists.count_codes(database, new.edition)

    async def job(tx: Tx) -> CodeTrial:
        edition = await code_lists.put_on_trial(tx, new.edition, count)
        found = await find_row(
            tx,
            CodeTrial,
            _BEGIN,
            list=edition.list,
            edition=edition.id,
            first_day=edition.first_day,
            last_day=edition.last_day,
            source=edition.source,
            started_by=actor.name,
            first_number=new.first_number,
            last_number=new.last_number,
            through=new.first_number,
            total=new.total,
        )
        trial = require_row(found, "a trial")
        tx.audit(
            "codes.try",
            ids=[trial.list],
            count=trial.total,
            detail=f"{_summary(trial)}, claims since {new.first_claim_day}",
        )
        for statement in _DROP_OLD:
            await tx.run(statement, before=trial.id - TRIALS_KEPT_MAX)
        return trial

    return await database.write(SCOPE, job, actor=actor)


async def list_trials(database: Database) -> list[CodeTrial]:
    """Return every trial, the newest first."""
    async with database.read(SCOPE) as tx:
        return await list_rows(tx, CodeTrial, _ALL)


async def find_trial(database: Database, id: int) -> CodeTrial | None:
    """Return a trial."""
    async with database.read(SCOPE) as tx:
        return await find_row(tx, CodeTrial, _ONE, id=id)


async def list_found(database: Database, id: int, change: str) -> list[str]:
    """Return the numbers of the claims that a trial found, in order."""
    async with database.read(SCOPE) as tx:
        return [str(number) for (number,) in await tx.rows(_FOUND, trial=id, change=change)]


async def lease_trial(database: Database, holder: str, *, actor: Actor) -> CodeTrial | None:
    """Lease the first open trial that no run has; None if there is none."""
    async with database.read(SCOPE) as tx:
        if await tx.row(_FREE) is None:
            return None

    async def job(tx: Tx) -> CodeTrial | None:
        free = await tx.row(_FREE)
        taken = free and await tx.run(_LEASE, of=free[0], holder=holder, micros=_LEASE_MICROS)
        return await find_row(tx, CodeTrial, _ONE, id=free[0]) if free and taken else None

    return await database.write(SCOPE, job, actor=actor)


async def save_progress(
    database: Database, trial: CodeTrial, progress: TrialProgress, *, actor: Actor
) -> bool:
    """Keep what a run found, and renew its lease; return False if the trial is not its any more."""

    async def job(tx: Tx) -> bool:
        values = progress._asdict()
        found = values.pop("found")
        kept = await tx.run(
            _SAVE,
            of=trial.id,
            by=trial.holder,
            micros=_LEASE_MICROS,
            **{f"to_{name}": value for name, value in values.items()},
        )
        if kept and found:
            rows = [
                {"trial": trial.id, "change": change, "claim_number": number}
                for change, number in found
            ]
            await tx.many(_ADD_FOUND, rows)
        return bool(kept)

    return await database.write(SCOPE, job, actor=actor)


async def end_trial(database: Database, id: int, state: str, *, actor: Actor) -> CodeTrial | None:
    """End an open trial as done or canceled, and let its edition go; None if it is not open."""

    async def job(tx: Tx) -> CodeTrial | None:
        if not await tx.run(_END, of=id, to=state):
            return None
        trial = require_row(await find_row(tx, CodeTrial, _ONE, id=id), "a trial")
        await code_lists.end_trial(tx, trial.edition)
        counts = f"{trial.ending} ending, {trial.passing} passing"
        tx.audit(
            "codes.tried" if state == DONE else "codes.try canceled",
            ids=[trial.list],
            count=trial.read,
            detail=f"{_summary(trial)}, {counts}, begun by {trial.started_by}",
        )
        return trial

    done = await database.write(SCOPE, job, actor=actor)
    await code_lists.purge_removed(database, actor=actor)
    return done


def _summary(trial: CodeTrial) -> str:
    return f"trial {trial.id}, {trial.first_day} to {trial.last_day}"


_LEASE_MICROS = LEASE_SECONDS * 1_000_000
_ROWS = select_as(code_trials, CodeTrial)
_ALL = Statement(_ROWS.order_by(code_trials.c.id.desc()))
_ONE = Statement(_ROWS.where(code_trials.c.id == bindparam("id")))
_BEGIN = Statement(
    insert_into(
        code_trials, "list", "edition", "first_day", "last_day", "source", "started_by", "first_number",
        "last_number", "through", "total",
    )
    .values(
        state=OPEN, started_at=database_now(), read=0, ending=0, passing=0, codes="{}", holder="", leased_until=0
    )
    .returning(*_ROWS.selected_columns)
)  # fmt: skip
_IS_FREE = (code_trials.c.state == OPEN) & (code_trials.c.leased_until < database_now())
_FREE = Statement(select(code_trials.c.id).where(_IS_FREE).order_by(code_trials.c.id).limit(1))
_UNTIL = database_now() + bindparam("micros", type_=BigInteger)
_LEASE = Statement(
    update(code_trials)
    .where(code_trials.c.id == bindparam("of"), _IS_FREE)
    .values(holder=bindparam("holder"), leased_until=_UNTIL)
)
_SAVE = Statement(
    update(code_trials)
    .where(
        code_trials.c.id == bindparam("of"),
        code_trials.c.state == OPEN,
        code_trials.c.holder == bindparam("by"),
    )
    .values(
        through=bindparam("to_through"),
        read=bindparam("to_read", type_=Integer),
        ending=bindparam("to_ending", type_=Integer),
        passing=bindparam("to_passing", type_=Integer),
        codes=bindparam("to_codes"),
        leased_until=_UNTIL,
    )
)
_END = Statement(
    update(code_trials)
    .where(code_trials.c.id == bindparam("of"), code_trials.c.state == OPEN)
    .values(state=bindparam("to"), ended_at=database_now())
)
_ADD_FOUND = Statement(
    insert_into(code_trial_claims, "trial", "change", "claim_number").on_conflict_do_nothing()
)
_FOUND = Statement(
    select(code_trial_claims.c.claim_number)
    .where(
        code_trial_claims.c.trial == bindparam("trial"),
        code_trial_claims.c.change == bindparam("change"),
    )
    .order_by(code_trial_claims.c.claim_number)
)
_DROP_OLD = (
    Statement(delete(code_trial_claims).where(code_trial_claims.c.trial <= bindparam("before"))),
    Statement(
        delete(code_trials).where(
            code_trials.c.id <= bindparam("before"), code_trials.c.state != OPEN
        )
    ),
)
