"""Find a marker wherever a service could have left it: log, metrics, files, tables."""

import asyncio

import asyncpg
import httpx

from tests.api.service_process import ServiceProcess
from tests.patience import PATIENCE_SECONDS


def places_with(server: ServiceProcess, marker: str) -> list[str]:
    """Every place outside its answers in which a service keeps the marker in clear."""
    server.logged_requests()
    found = [f"log: {line}" for line in list(server.log) if marker in line]
    metrics = httpx.get(
        server.sandbox["operations_url"] + "/metrics", timeout=PATIENCE_SECONDS
    ).text
    found += ["metrics"] if marker in metrics else []
    files = [file for file in server.data.rglob("*") if file.is_file()]
    found += [str(file) for file in files if marker.encode() in file.read_bytes()]
    if server.kind == "postgresql":
        found += asyncio.run(tables_with(server.environment["CLEARLANE_DATABASE_URL"], marker))
    return found


async def tables_with(url: str, marker: str) -> list[str]:
    """Every table of a PostgreSQL database that keeps the marker in clear."""
    connection = await asyncpg.connect(url)
    try:
        tables = await connection.fetch(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
            " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        )
        found = []
        for (table,) in tables:
            # A whole row as text; binary columns come as hexadecimal.
            query = f"SELECT 1 FROM {table} AS r WHERE r::text LIKE '%' || $1 || '%' LIMIT 1"
            words = (marker, marker.encode().hex())
            found += [f"table {table}" for word in words if await connection.fetchval(query, word)]
        return found
    finally:
        await connection.close()
