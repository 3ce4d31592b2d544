"""The `clearlane` command with pages of a few claims and short waits: a small file passes every point of a large one."""

from dataclasses import replace

from clearlane.cli.command.root import main
from clearlane.pipeline import schedule
from clearlane.pipeline.inbound import claim_responses
from clearlane.pipeline.intake.files import file_reading, release_claims, upload

PART_BYTES, CLAIMS_PER_PAGE, CLAIMS_RELEASED_AT_ONCE = 2_048, 3, 2
LOOK_SECONDS = 0.5


def shrink() -> None:
    """Make parts, pages and waits small."""
    upload.PART_BYTES_MAX = PART_BYTES  # type: ignore[attr-defined]  # imported there from the store
    file_reading.CLAIMS_PER_PAGE = CLAIMS_PER_PAGE
    release_claims.CLAIMS_RELEASED_AT_ONCE = CLAIMS_RELEASED_AT_ONCE
    release_claims.CLAIMS_RELEASED_ALONE = CLAIMS_RELEASED_AT_ONCE
    release_claims.CLAIMS_RELEASED_BESIDE_OTHERS = CLAIMS_RELEASED_AT_ONCE
    claim_responses.CLAIMS_PAGE_ROWS = CLAIMS_PER_PAGE
    tables = schedule.TABLES
    schedule.TABLES = replace(
        tables,
        queues=tuple(replace(row, poll_seconds=LOOK_SECONDS) for row in tables.queues),
        ticks=tuple(replace(row, every_seconds=LOOK_SECONDS) for row in tables.ticks),
    )


if __name__ == "__main__":
    shrink()
    main()
