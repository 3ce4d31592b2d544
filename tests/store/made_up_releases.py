"""A release with the schema of this tree, and one after it that adds a column and an index.

Before the first release its migration is written as it will be frozen.
"""

from pathlib import Path

from clearlane.store.database.schema import HEAD
from clearlane.store.database.schema_revision import RELEASED, is_unreleased
from tools import freeze_schema

FIRST = freeze_schema.REVISION if is_unreleased(HEAD) else HEAD


def _after(revision: str) -> str:
    """Return the revision that follows, with which programs of this one go on."""
    found = RELEASED.fullmatch(revision)
    assert found
    return f"r{int(found[1]) + 1:04}.r{found[1]}"


SECOND = _after(FIRST)
SECOND_ALONE = SECOND.partition(".")[0]
"""The same revision, if it named no earlier program."""
SECOND_FILE = f"{SECOND_ALONE}_nickname.py"
SECOND_MIGRATION = f'''
"""A column with a default, and an index on it."""
import sqlalchemy
from alembic import op
from clearlane.store.database.pending_changes import Lock, PendingChange, Work

revision = "{SECOND}"
down_revision = "{FIRST}"
CHANGES = (
    PendingChange("adds the column nickname", "vendors", Lock.ALL, Work.NONE),
    PendingChange("adds an index by nickname", "vendors", Lock.WRITES, Work.INDEX),
)


def upgrade():
    op.add_column("vendors", sqlalchemy.Column("nickname", sqlalchemy.Text, server_default=""))
    op.create_index("vendors_nickname", "vendors", ["nickname"])
'''


async def release_first(versions: Path, place) -> None:
    """Write the migration of the first release into a folder of versions, if it is not released yet."""
    if not is_unreleased(HEAD):
        return
    statements = await freeze_schema.statements_on(place.url, place.sqlite_file)
    frozen = freeze_schema.frozen_text(statements)
    (versions / f"{FIRST}.{place.kind}.sql").write_text(frozen)
    (versions / f"{FIRST}_initial.py").write_text(freeze_schema.initial_migration())


def release_second(versions: Path) -> None:
    """Write the migration of a second release, with which programs of the first go on."""
    (versions / SECOND_FILE).write_text(SECOND_MIGRATION)
