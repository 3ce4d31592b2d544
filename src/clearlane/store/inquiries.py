"""Requests that ask payers, and their inquiries: added together, answered one by one, each once.

A node that sends an inquiry leases it by moving ``next_at`` ahead, so that the inquiries of a node that died become
due again. ``transaction_set`` is ST01 of the inquiry (270). Sealed values are bound to the request and the number of the
inquiry in it. Knows no field and no answer.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import (
    BigInteger,
    Integer,
    LargeBinary,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
    update,
)

from clearlane.kernel.redacted_repr import shows
from clearlane.store.database.database import SystemScope, Tx, find_row, list_rows
from clearlane.store.database.schema import inquiries
from clearlane.store.database.schema import inquiry_requests as requests
from clearlane.store.database.sql import (
    AnyColumn,
    Statement,
    among,
    scoped_insert,
    scoped_select,
    select_as,
)
from clearlane.store.delivery.control_numbers import REQUEST_NUMBER_MAX
from clearlane.store.retention.legal_holds import site_not_held

SCOPE = SystemScope("inquiries are sent for many clients")
REQUESTS, INQUIRIES, RESPONSES = "inquiry_requests", "inquiries", "inquiry_responses"
TRACE_DIGITS_MAX, POSITION_DIGITS_MAX = 18, 9
OPEN, MAILED, ANSWERED = "Open", "Mailed", "Answered"
INTERACTIVE, BULK, BY_FILE = 0, 1, 2
"""How an inquiry is sent: at once, while a caller waits; behind these, for large documents; in a batch."""


@shows("number")
class NewInquiry(NamedTuple):
    """An inquiry to be stored. ``inquiry`` is sealed."""

    number: int
    payer_id: str
    type: str
    mode: int
    next_at: int
    patient_key: int | None
    """The keyed hash that finds the inquiries about one patient, of this transaction alone."""
    inquiry: bytes


@shows("number")
class NewFollowing(NamedTuple):
    """An inquiry that follows another one of its request: to the same payer, about the same patient. ``inquiry`` is sealed."""

    number: int
    next_at: int
    inquiry: bytes


@shows("id")
class StoredRequest(NamedTuple):
    """A stored request. ``payload`` is sealed."""

    id: int
    transaction_set: str
    """270, or that of another inquiry."""
    request_number: int
    """V3's ``RequestId``, if it was submitted there."""
    created_at: int
    inquiries: int
    payload: bytes | None


@shows("id")
class NumberedRequest(NamedTuple):
    """A request of a vendor's list."""

    id: int
    site_id: int
    request_number: int
    created_at: int
    inquiries: int


class InquiryStatus(NamedTuple):
    """The kind of response to one patient of a request, empty while there is none."""

    number: int
    answer: str


@shows("number")
class InquiryResponse(NamedTuple):
    """The response for one patient. ``response`` is sealed."""

    number: int
    response: bytes


@shows("inquiry_request_id", "number")
class AskedInquiry(NamedTuple):
    """An inquiry and what became of it. ``inquiry`` and ``response`` are sealed."""

    inquiry_request_id: int
    number: int
    created_at: int
    state: str
    mode: int
    answer: str
    answered_at: int | None
    inquiry: bytes
    response: bytes | None


class InquiryQueue(NamedTuple):
    """The inquiries of one transaction to one payer in one mode."""

    transaction_set: str
    mode: int
    type: str
    payer_id: str


@shows("inquiry_request_id", "number")
class StoredInquiry(NamedTuple):
    """A stored inquiry. ``inquiry`` is sealed."""

    vendor_id: int
    site_id: int
    inquiry_request_id: int
    number: int
    transaction_set: str
    payer_id: str
    type: str
    mode: int
    attempts: int
    next_at: int
    created_at: int
    request_number: int
    state: str
    inquiry: bytes

    @property
    def trace(self) -> str:
        """Our trace number, which the response repeats."""
        return trace(self.inquiry_request_id, self.number)


def trace(inquiry_request_id: int, number: int) -> str:
    """Return the trace number of an inquiry, for which its content and its answer are sealed too."""
    return f"{inquiry_request_id}-{number}"


def parse_trace(text: str) -> tuple[int, int] | None:
    """Return the inquiry's id and number of a trace number; None if it is none of ours."""
    inquiry_request_id, _, number = text.strip().partition("-")
    if not all(part.isascii() and part.isdigit() for part in (inquiry_request_id, number)):
        return None
    fits = len(inquiry_request_id) <= TRACE_DIGITS_MAX and len(number) <= POSITION_DIGITS_MAX
    return (int(inquiry_request_id), int(number)) if fits else None


async def add(tx: Tx, request: StoredRequest, new: Sequence[NewInquiry]) -> None:
    """Add a request of the scope with its inquiries."""
    await tx.run(_ADD, **request._asdict())
    rows = [
        {
            "inquiry_request_id": request.id,
            "transaction_set": request.transaction_set,
            "state": OPEN,
            # An interactive inquiry is leased from the start.
            "attempts": int(one.mode == INTERACTIVE),
            "answer": "",
            **one._asdict(),
        }
        for one in new
    ]
    if rows:
        await tx.many(_ADD_INQUIRY, rows)


async def find(tx: Tx, transaction_set: str, id: int) -> StoredRequest | None:
    """Return a request of the scope."""
    return await find_row(tx, StoredRequest, _FIND, transaction_set=transaction_set, id=id)


async def find_id(tx: Tx, transaction_set: str, request_number: int) -> int | None:
    """Return the id of the scope's request with this number."""
    if not 0 < request_number <= REQUEST_NUMBER_MAX:
        return None
    return await find_row(
        tx, int, _FIND_ID, transaction_set=transaction_set, request_number=request_number
    )


async def list_numbered(tx: Tx, transaction_set: str, request_number: int) -> list[tuple[int, int]]:
    """Return id and vendor of each request with this number: two vendors may have the same one."""
    if not 0 < request_number <= REQUEST_NUMBER_MAX:
        return []
    rows = await tx.rows(_NUMBERED, transaction_set=transaction_set, request_number=request_number)
    return [(int(id), int(vendor_id)) for id, vendor_id in rows]


async def list_newest(tx: Tx, transaction_set: str, limit: int) -> list[StoredRequest]:
    """Return the newest requests of the scope."""
    return await list_rows(tx, StoredRequest, _NEWEST, transaction_set=transaction_set, limit=limit)


async def list_by_number(
    tx: Tx, transaction_set: str, *, before: int, limit: int
) -> list[NumberedRequest]:
    """Return the requests of the scope whose numbers are smaller than one, the newest first."""
    return await list_rows(
        tx, NumberedRequest, _BY_NUMBER, transaction_set=transaction_set, before=before, limit=limit
    )


async def find_some(tx: Tx, ids: Sequence[int]) -> list[StoredRequest]:
    """Return those of these requests that belong to the scope, newest first."""
    return await list_rows(tx, StoredRequest, _SOME, ids=list(ids)) if ids else []


async def list_first_inquiries(tx: Tx, inquiry_request_ids: Sequence[int]) -> list[StoredInquiry]:
    """Return the first inquiry of each of these requests of the scope."""
    if not inquiry_request_ids:
        return []
    return await list_rows(tx, StoredInquiry, _FIRST, inquiry_request_ids=list(inquiry_request_ids))


async def list_patient_keys(tx: Tx, inquiry_request_id: int, limit: int) -> list[int]:
    """Return the keys of the patients of a request of the scope."""
    rows = await tx.rows(_PATIENT_KEYS, inquiry_request_id=inquiry_request_id, limit=limit)
    return list(dict.fromkeys(int(key) for (key,) in rows))


async def list_of_patient(tx: Tx, patient_key: int, limit: int) -> list[StoredInquiry]:
    """Return the inquiries of the scope about a patient, newest first."""
    return await list_rows(tx, StoredInquiry, _OF_PATIENT, patient_key=patient_key, limit=limit)


async def list_asked(tx: Tx, patient_key: int, limit: int) -> list[AskedInquiry]:
    """Return the inquiries of the scope under a key with what became of them, newest first."""
    return await list_rows(tx, AskedInquiry, _ASKED_OF, patient_key=patient_key, limit=limit)


async def find_owner(tx: Tx, id: int) -> tuple[int, int] | None:
    """Return vendor and site of a request."""
    row = await tx.row(_OWNER, id=id)
    return None if row is None else (int(row[0]), int(row[1]))


async def list_inquiries(tx: Tx, id: int) -> list[StoredInquiry]:
    """Return the inquiries of a request of any client."""
    return await list_rows(tx, StoredInquiry, _ALL_ASKED, of=id)


async def list_statuses(tx: Tx, id: int) -> list[InquiryStatus]:
    """Return the status of each patient of a request of the scope, in the order of the document."""
    return await list_rows(tx, InquiryStatus, _STATUSES, inquiry_request_id=id)


async def count_answered(tx: Tx, ids: Sequence[int]) -> tuple[int, int]:
    """Return how many inquiries of these requests of the scope are answered, and how many there are."""
    [(answered, asked)] = await tx.rows(_COUNT_ANSWERED, ids=list(ids))
    return int(answered), int(asked)


async def list_responses(tx: Tx, id: int, numbers: Sequence[int]) -> list[InquiryResponse]:
    """Return the responses for these patients of a request of the scope, in the order of the document."""
    if not numbers:
        return []
    return await list_rows(
        tx, InquiryResponse, _RESPONSES, inquiry_request_id=id, numbers=list(numbers)
    )


async def complete_requests(tx: Tx, ids: Sequence[int]) -> set[int]:
    """Return those of these requests, of any client, that lack no response."""
    return {int(id) for (id,) in await tx.rows(_COMPLETE, ids=list(ids))}


async def list_incomplete(tx: Tx, ids: Sequence[int]) -> set[int]:
    """Return those of these requests of the scope that lack a response."""
    return {int(id) for (id,) in await tx.rows(_INCOMPLETE, ids=list(ids))}


async def due_queues(tx: Tx, now: int) -> list[InquiryQueue]:
    """Return the queues with inquiries that may be sent now."""
    return await list_rows(tx, InquiryQueue, _DUE_QUEUES, now=now)


async def open_queues(tx: Tx) -> list[InquiryQueue]:
    """Return the queues with open inquiries, due or not."""
    return await list_rows(tx, InquiryQueue, _OPEN_QUEUES)


async def switch_to_files(tx: Tx, queue: InquiryQueue) -> int:
    """Let the open inquiries of a queue be sent in batches. A node that sends one keeps it until its lease ends."""
    return await tx.run(
        _SEND_BY_MAIL, **{f"of_{name}": value for name, value in queue._asdict().items()}
    )


async def list_due(tx: Tx, queue: InquiryQueue, now: int, limit: int) -> list[StoredInquiry]:
    """Return open inquiries of a queue that may be sent now, oldest first."""
    return await list_rows(tx, StoredInquiry, _DUE, **queue._asdict(), now=now, limit=limit)


async def find_inquiry(tx: Tx, inquiry_request_id: int, number: int) -> StoredInquiry | None:
    """Return one inquiry of any client."""
    return await find_row(
        tx, StoredInquiry, _ONE, inquiry_request_id=inquiry_request_id, number=number
    )


async def lease(tx: Tx, inquiries: Sequence[StoredInquiry], until: int) -> list[StoredInquiry]:
    """Lease inquiries until a time, and return those that no other node leased first."""
    return [
        each._replace(next_at=until, attempts=each.attempts + 1)
        for each in inquiries
        if await tx.run(
            _TAKE, of=each.inquiry_request_id, nth=each.number, seen=each.next_at, until=until
        )
    ]


async def reschedule(tx: Tx, of: Sequence[tuple[int, int]], next_at: int) -> None:
    """Let these inquiries be sent again from a time on."""
    await tx.many(
        _PUT_BACK,
        [
            {"of": inquiry_request_id, "nth": nth, "later": next_at}
            for inquiry_request_id, nth in of
        ],
    )


async def mark_mailed(tx: Tx, sent: Sequence[StoredInquiry], batch_id: int) -> None:
    """Record that these inquiries are in a batch."""
    await tx.many(
        _MAILED,
        [{"of": one.inquiry_request_id, "nth": one.number, "into": batch_id} for one in sent],
    )


async def record_answer(
    tx: Tx, inquiry_request_id: int, number: int, kind: str, at: int, content: bytes
) -> bool:
    """Store a response; return False if there was one before. ``content`` is sealed."""
    return bool(
        await tx.run(
            _ANSWERED, of=inquiry_request_id, nth=number, kind=kind, moment=at, content=content
        )
    )


async def next_number(tx: Tx, inquiry_request_id: int) -> int:
    """Return the number of one more inquiry of a request. Locks the request, so that two are never given one number."""
    await tx.rows(_LOCK_REQUEST, of=inquiry_request_id)
    [(last,)] = await tx.rows(_LAST_NUMBER, of=inquiry_request_id)
    return int(last) + 1


async def add_following(
    tx: Tx, inquiry_request_id: int, number: int, following: NewFollowing
) -> None:
    """Add an inquiry to a request after the one with this number. No caller sends it at once: it goes to the queues."""
    await tx.run(
        _FOLLOW,
        of=inquiry_request_id,
        nth=number,
        as_number=following.number,
        due=following.next_at,
        content=following.inquiry,
    )
    await tx.run(_COUNT_ONE_MORE, of=inquiry_request_id)


async def list_for_batch(tx: Tx, batch_id: int) -> list[StoredInquiry]:
    """Return the inquiries of a batch, in the order of its file."""
    return await list_rows(tx, StoredInquiry, _OF_BATCH, batch_id=batch_id)


async def purge(tx: Tx, vendor_id: int, before: int, limit: int) -> Counter[str]:
    """Delete a vendor's requests made before a time, and return how many of each transaction."""
    rows = await tx.rows(_OLD, vendor=vendor_id, before=before, limit=limit)
    if rows:
        ids = [int(id) for id, _ in rows]
        await tx.run(_PURGE_INQUIRIES, ids=ids)
        await tx.run(_PURGE, ids=ids)
    return Counter(str(transaction_set) for _, transaction_set in rows)


async def count_old(tx: Tx, vendor_id: int, before: int) -> int:
    """Return how many of a vendor's requests would be deleted."""
    row = await tx.row(_COUNT_OLD, vendor=vendor_id, before=before)
    return int(row[0]) if row else 0


_ADD = scoped_insert(requests, *StoredRequest._fields)
_ADD_INQUIRY = scoped_insert(
    inquiries, "inquiry_request_id", "transaction_set", *NewInquiry._fields, "state", "attempts",
    "answer",
)  # fmt: skip
_OF_SET = requests.c.transaction_set == bindparam("transaction_set")
_WITH_NUMBER = requests.c.request_number == bindparam("request_number")
_FIND = scoped_select(
    select_as(requests, StoredRequest).where(_OF_SET, requests.c.id == bindparam("id")),
    requests,
)
_FIND_ID = scoped_select(select(requests.c.id).where(_OF_SET, _WITH_NUMBER), requests)
_NUMBERED = Statement(
    select(requests.c.id, requests.c.vendor_id)
    .where(_OF_SET, _WITH_NUMBER)
    .order_by(requests.c.id),
    system=True,
)
_NEWEST = scoped_select(
    select_as(requests, StoredRequest)
    .where(_OF_SET)
    .order_by(requests.c.created_at.desc(), requests.c.id.desc())
    .limit(bindparam("limit")),
    requests,
)
_BY_NUMBER = scoped_select(
    select_as(requests, NumberedRequest)
    # One more than the highest number does not fit into the column's type.
    .where(_OF_SET, requests.c.request_number < bindparam("before", type_=BigInteger))
    .order_by(requests.c.request_number.desc())
    .limit(bindparam("limit")),
    requests,
)
_SOME = scoped_select(
    select_as(requests, StoredRequest)
    .where(among(requests.c.id, "ids"))
    .order_by(requests.c.created_at.desc(), requests.c.id.desc()),
    requests,
)
_OF_REQUEST = {"created_at", "request_number"}
_ASKED = select(
    *((requests if name in _OF_REQUEST else inquiries).c[name] for name in StoredInquiry._fields)
).select_from(inquiries.join(requests, requests.c.id == inquiries.c.inquiry_request_id))
_FIRST = scoped_select(
    _ASKED.where(
        among(inquiries.c.inquiry_request_id, "inquiry_request_ids"),
        inquiries.c.number == 1,
    ),
    inquiries,
    requests,
)
_PATIENT_KEYS = scoped_select(
    select(inquiries.c.patient_key)
    .where(
        inquiries.c.inquiry_request_id == bindparam("inquiry_request_id"),
        inquiries.c.patient_key.is_not(None),
    )
    .order_by(inquiries.c.number)
    .limit(bindparam("limit")),
    inquiries,
)
# Request ids are in the order of time.
_OF_PATIENT = scoped_select(
    _ASKED.where(inquiries.c.patient_key == bindparam("patient_key"))
    .order_by(inquiries.c.inquiry_request_id.desc())
    .limit(bindparam("limit")),
    inquiries,
    requests,
)
_ASKED_OF = scoped_select(
    select(
        *(
            (requests if name == "created_at" else inquiries).c[name]
            for name in AskedInquiry._fields
        )
    )
    .select_from(inquiries.join(requests, requests.c.id == inquiries.c.inquiry_request_id))
    .where(inquiries.c.patient_key == bindparam("patient_key"))
    .order_by(inquiries.c.inquiry_request_id.desc(), inquiries.c.number.desc())
    .limit(bindparam("limit")),
    inquiries,
    requests,
)
_OWNER = Statement(
    select(requests.c.vendor_id, requests.c.site_id).where(requests.c.id == bindparam("id")),
    system=True,
)
_STATUSES = scoped_select(
    select_as(inquiries, InquiryStatus)
    .where(inquiries.c.inquiry_request_id == bindparam("inquiry_request_id"))
    .order_by(inquiries.c.number),
    inquiries,
)
_ANSWERED_AND_ALL: tuple[AnyColumn, ...] = (
    func.count().filter(inquiries.c.answer != ""),
    func.count(),
)
_COUNT_ANSWERED = scoped_select(
    select(*_ANSWERED_AND_ALL)
    .select_from(inquiries)
    .where(among(inquiries.c.inquiry_request_id, "ids")),
    inquiries,
)
_RESPONSES = scoped_select(
    select_as(inquiries, InquiryResponse)
    .where(
        inquiries.c.inquiry_request_id == bindparam("inquiry_request_id"),
        among(inquiries.c.number, "numbers"),
        inquiries.c.response.is_not(None),
    )
    .order_by(inquiries.c.number),
    inquiries,
)
# Part of the SQL text: a partial index serves no statement with a placeholder.
_OPEN = inquiries.c.state == literal(OPEN, literal_execute=True)
_UNANSWERED = inquiries.c.state != literal(ANSWERED, literal_execute=True)
_COMPLETE = Statement(
    select(requests.c.id).where(
        among(requests.c.id, "ids"),
        ~exists().where(inquiries.c.inquiry_request_id == requests.c.id, _UNANSWERED),
    ),
    system=True,
)
_INCOMPLETE = scoped_select(
    select(inquiries.c.inquiry_request_id)
    .where(among(inquiries.c.inquiry_request_id, "ids"), _UNANSWERED)
    .distinct(),
    inquiries,
)
_THIS = (
    inquiries.c.inquiry_request_id == bindparam("of"),
    inquiries.c.number == bindparam("nth"),
)
_DUE_QUEUES = Statement(
    select_as(inquiries, InquiryQueue)
    .where(_OPEN, inquiries.c.next_at <= bindparam("now"))
    .distinct()
    .order_by(*(inquiries.c[name] for name in InquiryQueue._fields)),
    system=True,
)
_OPEN_QUEUES = Statement(
    select_as(inquiries, InquiryQueue).where(_OPEN).distinct(),
    system=True,
)
_SEND_BY_MAIL = Statement(
    update(inquiries)
    .where(_OPEN, *(inquiries.c[name] == bindparam(f"of_{name}") for name in InquiryQueue._fields))
    .values(mode=BY_FILE),
    system=True,
)
_DUE = Statement(
    _ASKED.where(
        _OPEN,
        *(inquiries.c[name] == bindparam(name) for name in InquiryQueue._fields),
        inquiries.c.next_at <= bindparam("now"),
    )
    .order_by(inquiries.c.next_at)
    .limit(bindparam("limit")),
    system=True,
)
_ONE = Statement(
    _ASKED.where(
        inquiries.c.inquiry_request_id == bindparam("inquiry_request_id"),
        inquiries.c.number == bindparam("number"),
    ),
    system=True,
)
_ALL_ASKED = Statement(
    _ASKED.where(inquiries.c.inquiry_request_id == bindparam("of")).order_by(inquiries.c.number),
    system=True,
)
_OF_BATCH = Statement(
    _ASKED.where(inquiries.c.batch_id == bindparam("batch_id")).order_by(
        inquiries.c.inquiry_request_id, inquiries.c.number
    ),
    system=True,
)
_TAKE = Statement(
    update(inquiries)
    .where(*_THIS, inquiries.c.next_at == bindparam("seen"), inquiries.c.state == OPEN)
    .values(next_at=bindparam("until"), attempts=inquiries.c.attempts + 1),
    system=True,
)
_PUT_BACK = Statement(
    update(inquiries).where(*_THIS, inquiries.c.state == OPEN).values(next_at=bindparam("later")),
    system=True,
)
_MAILED = Statement(
    update(inquiries)
    .where(*_THIS, inquiries.c.state == OPEN)
    .values(state=MAILED, batch_id=bindparam("into")),
    system=True,
)
_ANSWERED = Statement(
    update(inquiries)
    .where(*_THIS, inquiries.c.state != ANSWERED)
    .values(
        state=ANSWERED,
        answer=bindparam("kind"),
        answered_at=bindparam("moment"),
        response=bindparam("content"),
    ),
    system=True,
)
_LOCK_REQUEST = Statement(
    select(requests.c.id).where(requests.c.id == bindparam("of")).with_for_update(),
    system=True,
)
_LAST_NUMBER = Statement(
    select(func.max(inquiries.c.number)).where(inquiries.c.inquiry_request_id == bindparam("of")),
    system=True,
)
_FOLLOW_VALUES: dict[str, AnyColumn] = {
    **{
        name: inquiries.c[name]
        for name in (
            "vendor_id", "site_id", "inquiry_request_id", "transaction_set", "payer_id", "type", "patient_key",
        )
    },
    "number": bindparam("as_number", type_=Integer),
    "state": literal(OPEN),
    "mode": case((inquiries.c.mode == INTERACTIVE, BULK), else_=inquiries.c.mode),
    "attempts": literal(0),
    "next_at": bindparam("due", type_=BigInteger),
    "answer": literal(""),
    "inquiry": bindparam("content", type_=LargeBinary),
}  # fmt: skip
_FOLLOW = Statement(
    insert(inquiries).from_select(
        list(_FOLLOW_VALUES), select(*_FOLLOW_VALUES.values()).where(*_THIS)
    ),
    system=True,
)
_COUNT_ONE_MORE = Statement(
    update(requests)
    .where(requests.c.id == bindparam("of"))
    .values(inquiries=requests.c.inquiries + 1),
    system=True,
)
_IS_OLD = and_(
    requests.c.vendor_id == bindparam("vendor", type_=BigInteger),
    requests.c.created_at < bindparam("before", type_=BigInteger),
    site_not_held(requests),
)
_OLD = Statement(
    select(requests.c.id, requests.c.transaction_set)
    .where(_IS_OLD)
    .order_by(requests.c.created_at)
    .limit(bindparam("limit")),
    system=True,
)
_COUNT_OLD = Statement(select(func.count()).select_from(requests).where(_IS_OLD), system=True)
_PURGE_INQUIRIES = Statement(
    delete(inquiries).where(among(inquiries.c.inquiry_request_id, "ids")), system=True
)
_PURGE = Statement(delete(requests).where(among(requests.c.id, "ids")), system=True)
