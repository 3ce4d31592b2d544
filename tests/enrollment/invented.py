"""Invented providers, the requests that enroll them, and a database that fails on them."""

import json
import random
import sqlite3
from pathlib import Path

import asyncpg

from clearlane.kernel.formats import is_npi
from tests.patience import PATIENCE_SECONDS


def an_enrollment(**changes):
    """A request for one provider of his own; None takes a field away."""
    values = {
        "RequestId": f"R-{random.getrandbits(40):x}",
        "Npi": an_npi(),
        "NpiType": "Individual",
        "Tin": f"{random.randrange(10**9):09}",
        "ProviderLastName": "FENN",
        "ProviderFirstName": "OSKAR",
        "Address1": "12 Orchard Lane",
        "City": "Fernhill",
        "State": "IL",
        "Zip": "60601",
        "PrimaryContactLastName": "BIRCH",
        "PrimaryContactFirstName": "NORA",
        "PrimaryContactEmail": "nora.birch@example.com",
        "PrimaryContactPhoneNumber": "3125550142",
        **changes,
    }
    return {name: value for name, value in values.items() if value is not None}


def a_practice(**changes):
    """A request for an organization."""
    own = {"NpiType": "Organization", "PracticeName": "Fernhill Family Practice"}
    return an_enrollment(**{"ProviderLastName": None, "ProviderFirstName": None, **own, **changes})


def a_request(*enrollments, **changes):
    """A whole request."""
    return {"Version": 1, "Enrollments": list(enrollments) or [an_enrollment()], **changes}


def a_document(*enrollments, **changes) -> bytes:
    """A whole request as it is sent."""
    return json.dumps(a_request(*enrollments, **changes)).encode()


def an_npi() -> str:
    """A number with a right check digit."""
    first = f"1{random.randrange(10**8):08}"
    return next(f"{first}{digit}" for digit in range(10) if is_npi(f"{first}{digit}"))


# The last thing that an enrollment writes fails, and then fails no more.
FAIL = {
    "sqlite": "CREATE TRIGGER fail BEFORE INSERT ON enrollment_events BEGIN SELECT RAISE(ABORT, 'x'); END",
    "postgresql": """
        CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'x'; END $$;
        CREATE TRIGGER fail BEFORE INSERT ON enrollment_events FOR EACH ROW EXECUTE FUNCTION fail()
    """,
}
MEND = {"sqlite": "DROP TRIGGER fail", "postgresql": "DROP FUNCTION fail() CASCADE"}


async def by_hand(statements: dict[str, str], url: str, file: Path) -> None:
    """Run a statement with every right there is."""
    if url:
        connection = await asyncpg.connect(url)
        await connection.execute(statements["postgresql"])
        await connection.close()
    else:
        with sqlite3.connect(file, timeout=PATIENCE_SECONDS) as connection:
            connection.execute(statements["sqlite"])
        connection.close()
