"""Make the schema of this tree a released one: ``python -m tools.freeze_schema``, once, in the commit of the first release.

Until then one migration creates the tables as they are declared, and each change of them gets another letter. This
program writes out every statement of that migration for both databases, and puts a migration in its place that runs them. From
then on the declared tables may change only together with a migration of their own: CONTRIBUTING.md.
"""

import asyncio
import hashlib
import importlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from clearlane.store.database import migrate
from clearlane.store.database.schema.partitions import PARTITION_KEYS
from clearlane.store.database.schema_revision import is_unreleased

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ROOT / "src" / "clearlane" / "store" / "database" / "migrations" / "versions"
CORE = ROOT / "src" / "clearlane" / "store" / "database" / "schema" / "core.py"
SUMS = ROOT / "tests" / "store" / "released_migrations.txt"
FIRST = "v0001_initial"
REVISION = "r0001"
NEXT = "\n-- next statement\n"
TEMPLATE = '''"""Create the schema of the first release, as its statements were then."""

from pathlib import Path

from alembic import op

from clearlane.store.database.migrations.first_partitions import make_first_partitions

revision = "{revision}"
down_revision = None
CHANGES = ()
PARTITIONED = {partitioned!r}
NEXT = "\\n-- next statement\\n"


def upgrade() -> None:
    """Run the statements of this database, in their order."""
    connection = op.get_bind()
    file = Path(__file__).with_name(f"{revision}.{{connection.dialect.name}}.sql")
    for statement in file.read_text(encoding="utf-8").split(NEXT):
        connection.exec_driver_sql(statement)
    if connection.dialect.name == "postgresql":
        make_first_partitions(op, PARTITIONED)
'''


def record(connection: Any) -> list[str]:
    """Run the first migration on an empty database, and return its statements as the driver got them."""
    from alembic.migration import MigrationContext
    from alembic.operations import Operations
    from sqlalchemy import event

    statements: list[str] = []

    def keep(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        if parameters:
            raise ValueError(f"a statement with parameters cannot be written out: {statement}")
        statements.append(statement.strip())

    migration = importlib.import_module(f"clearlane.store.database.migrations.versions.{FIRST}")
    context = MigrationContext.configure(connection, opts={"transactional_ddl": True})
    with connection.begin(), Operations.context(context):
        event.listen(connection, "before_cursor_execute", keep)
        migration.create_schema()
        event.remove(connection, "before_cursor_execute", keep)
    return statements


async def statements_on(url: str, sqlite_file: Path) -> list[str]:
    """Return the statements of the first migration for one database, which is empty."""
    return await migrate._run_on_connection(url, sqlite_file, record)  # noqa: SLF001


def initial_migration() -> str:
    """Return the migration that runs the frozen statements."""
    return TEMPLATE.format(revision=REVISION, partitioned=tuple(PARTITION_KEYS))


def frozen_text(statements: list[str]) -> str:
    """Return the statements as a file."""
    return NEXT.join(statements)


def main() -> None:
    from clearlane.store.database.schema import HEAD
    from tools.release.frozen_databases import postgresql

    if not is_unreleased(HEAD):
        sys.exit(f"The schema is {HEAD} and released: write a migration instead.")
    with tempfile.TemporaryDirectory() as place:
        on_sqlite = asyncio.run(statements_on("", Path(place) / "clearlane.db"))
    with postgresql() as (url, _):
        on_postgresql = asyncio.run(statements_on(url, Path()))
    written = {
        f"{REVISION}.sqlite.sql": frozen_text(on_sqlite),
        f"{REVISION}.postgresql.sql": frozen_text(on_postgresql),
        f"{REVISION}_initial.py": initial_migration(),
    }
    for name, text in written.items():
        (VERSIONS / name).write_text(text, encoding="utf-8")
    (VERSIONS / f"{FIRST}.py").unlink()
    core = CORE.read_text(encoding="utf-8")
    CORE.write_text(
        re.sub(r'^HEAD = "[^"]+"', f'HEAD = "{REVISION}"', core, flags=re.MULTILINE),
        encoding="utf-8",
    )
    formatted = VERSIONS / f"{REVISION}_initial.py"
    subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", formatted], check=True)
    sums = "".join(
        f"{hashlib.sha256((VERSIONS / name).read_bytes()).hexdigest()}  {name}\n"
        for name in sorted(written)
    )
    SUMS.write_text(sums, encoding="utf-8")
    print(
        f"The schema {HEAD} is released as {REVISION}. Look at the difference, run tests/store, and commit it."
    )


if __name__ == "__main__":
    main()
