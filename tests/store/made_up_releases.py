"""The first release's migration as it will be frozen, and one of a second release that adds a column and an index."""

from pathlib import Path

from tools import freeze_schema

FIRST, SECOND = freeze_schema.REVISION, "r0002.r0001"
SECOND_MIGRATION = '''
"""A column with a default, and an index on it."""
import sqlalchemy
from alembic import op
from clearlane.store.database.pending_changes import Lock, PendingChange, Work

revision = "r0002.r0001"
down_revision = "r0001"
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
    if (versions / f"{FIRST}_initial.py").exists():
        return
    statements = await freeze_schema.statements_on(place.url, place.sqlite_file)
    frozen = freeze_schema.frozen_text(statements)
    (versions / f"{FIRST}.{place.kind}.sql").write_text(frozen)
    (versions / f"{FIRST}_initial.py").write_text(freeze_schema.initial_migration())


def release_second(versions: Path) -> None:
    """Write the migration of a second release, with which programs of the first go on."""
    (versions / "r0002_nickname.py").write_text(SECOND_MIGRATION)
