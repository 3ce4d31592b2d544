"""Inquiries of 270 and 276 files, in pages: staged while their file is read, asked once it is accepted, kept until it is answered.

A page is linked with the request that asks about its patients in the transaction that stores the request, so it is asked
once. Pages are sealed. Those of an attempt that ended too early are removed by their file.
"""

from typing import NamedTuple

from sqlalchemy import BigInteger, bindparam, select

from clearlane.kernel.redacted_repr import shows
from clearlane.store.database.database import SystemScope, Tx, find_row, list_rows
from clearlane.store.database.schema import file_inquiries
from clearlane.store.database.sql import (
    Statement,
    scoped_delete,
    scoped_insert,
    scoped_select,
    scoped_update,
    select_as,
)

TABLE = "file_inquiries"
SCOPE = SystemScope("answers are gathered for the files of all sites")


@shows("set_id", "position")
class InquiryPage(NamedTuple):
    """Some patients of a set. ``payload`` is sealed for :func:`page_key`."""

    set_id: str
    position: int
    """The number of its first patient in the set."""
    file_id: str
    payload: bytes


class InquiryLink(NamedTuple):
    """A page of an accepted file, and the request that asks about it."""

    vendor_id: int
    site_id: int
    file_id: str
    set_id: str
    position: int
    inquiry_request_id: int | None
    due_at: int
    """When the answers go back, whether all have come or not."""


def page_key(set_id: str, position: int) -> str:
    """Return the row key that a page is sealed for."""
    return f"{set_id}:{position}"


async def add(tx: Tx, page: InquiryPage) -> None:
    """Stage a page of patients."""
    await tx.run(_ADD, **page._asdict())


async def list_set_ids(tx: Tx, file_id: str) -> list[str]:
    """Return the sets for which patients of a file are stored."""
    return [str(set_id) for (set_id,) in await tx.rows(_SET_IDS, file=file_id)]


async def remove_set(tx: Tx, set_id: str) -> None:
    """Remove the pages of a set."""
    await tx.run(_REMOVE_SET, set=set_id)


async def remove_file(tx: Tx, file_id: str) -> int:
    """Remove the pages of a file, whose answers were written; return how many there were."""
    return await tx.run(_REMOVE_FILE, file=file_id)


async def accept(tx: Tx, file_id: str, due_at: int) -> int:
    """Let the patients of a file be asked about; return how many pages there are."""
    return await tx.run(_ACCEPT, file=file_id, to_due=due_at)


async def link(tx: Tx, set_id: str, position: int, inquiry_request_id: int) -> bool:
    """Link a page with the request that asks about it; False if another one does."""
    return bool(await tx.run(_LINK, set=set_id, at=position, to_request=inquiry_request_id))


async def find(tx: Tx, set_id: str, position: int) -> InquiryPage | None:
    """Return one page."""
    return await find_row(tx, InquiryPage, _FIND, set=set_id, at=position)


async def list_links(tx: Tx) -> list[InquiryLink]:
    """Return the pages of all accepted files whose answers are not written, by file, set and position."""
    return await list_rows(tx, InquiryLink, _LINKS)


async def list_links_of_file(tx: Tx, file_id: str) -> list[InquiryLink]:
    """Return the pages of an accepted file of the scope, by set and position; none if its answers are written."""
    return await list_rows(tx, InquiryLink, _LINKS_OF_FILE, file=file_id)


_I = file_inquiries.c
_OF_SET = _I.set_id == bindparam("set")
_OF_FILE = _I.file_id == bindparam("file")
_AT = _I.position == bindparam("at")
_ADD = scoped_insert(file_inquiries, *InquiryPage._fields)
_SET_IDS = scoped_select(select(_I.set_id).where(_OF_FILE).distinct(), file_inquiries)
_REMOVE_SET = scoped_delete(file_inquiries, _OF_SET)
_REMOVE_FILE = scoped_delete(file_inquiries, _OF_FILE)
_ACCEPT = scoped_update(file_inquiries, _OF_FILE, due_at=bindparam("to_due", type_=BigInteger))
_LINK = scoped_update(
    file_inquiries,
    _OF_SET,
    _AT,
    _I.inquiry_request_id.is_(None),
    inquiry_request_id=bindparam("to_request", type_=BigInteger),
)
_FIND = scoped_select(select_as(file_inquiries, InquiryPage).where(_OF_SET, _AT), file_inquiries)
_ACCEPTED_LINKS = (
    select_as(file_inquiries, InquiryLink)
    .where(_I.due_at.is_not(None))
    .order_by(_I.file_id, _I.set_id, _I.position)
)
_LINKS = Statement(_ACCEPTED_LINKS, system=True)
_LINKS_OF_FILE = scoped_select(_ACCEPTED_LINKS.where(_OF_FILE), file_inquiries)
