"""Eligibility requests and their inquiries as rows: added whole, answered one by one, each once.

Whoever asks takes an inquiry by moving ``next_at`` ahead, so that a question of a node that died comes free again. What
is sealed is bound to the request and the patient's number in it. Knows no field and no answer.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, delete, exists, func, literal, select, update

from clearlane.store.database import System, Tx
from clearlane.store.schema import eligibility_inquiries as inquiries
from clearlane.store.schema import eligibility_requests as requests
from clearlane.store.sql import Statement, among, insertion, mine

SCOPE = System("questions to payers are asked for many clients")
REQUESTS, INQUIRIES, RESPONSES = (
    "eligibility_requests",
    "eligibility_inquiries",
    "eligibility_responses",
)
OPEN, MAILED, ANSWERED = "Open", "Mailed", "Answered"
FRONT, BATCH, MAIL = 0, 1, 2
"""Lanes: a person waits; a large document; a payer that takes files only."""


class NewInquiry(NamedTuple):
    """A patient to be asked about. ``inquiry`` is sealed."""

    number: int
    payer_id: str
    type: str
    lane: int
    next_at: int
    inquiry: bytes

    def __repr__(self) -> str:
        """Without what is sealed."""
        return f"NewInquiry({self.number})"


class StoredRequest(NamedTuple):
    """A request as it stands. ``payload`` is sealed."""

    id: int
    created_at: int
    inquiries: int
    payload: bytes | None

    def __repr__(self) -> str:
        """Without what is sealed."""
        return f"StoredRequest({self.id})"


class Standing(NamedTuple):
    """How far one patient of a request is: the kind of what came back, empty while nothing did."""

    number: int
    answer: str


class Response(NamedTuple):
    """What came back for one patient. ``response`` is sealed."""

    number: int
    response: bytes

    def __repr__(self) -> str:
        """Without what is sealed."""
        return f"Response({self.number})"


class Queue(NamedTuple):
    """Inquiries to one payer on one lane."""

    lane: int
    type: str
    payer_id: str


class Asked(NamedTuple):
    """An inquiry that somebody is to ask. ``inquiry`` is sealed."""

    vendor_id: int
    site_id: int
    request_id: int
    number: int
    payer_id: str
    type: str
    lane: int
    attempts: int
    next_at: int
    created_at: int
    inquiry: bytes

    def __repr__(self) -> str:
        """Without what is sealed."""
        return f"Asked({self.request_id}-{self.number})"

    @property
    def trace(self) -> str:
        """Our trace number, by which an answer finds its question."""
        return trace(self.request_id, self.number)


def trace(request_id: int, number: int) -> str:
    """The trace number of a patient of a request."""
    return f"{request_id}-{number}"


def traced(text: str) -> tuple[int, int] | None:
    """The inverse of :func:`trace`; None where the text is none of ours."""
    request_id, _, number = text.strip().partition("-")
    if not (
        request_id.isascii() and request_id.isdigit() and number.isascii() and number.isdigit()
    ):
        return None
    return (int(request_id), int(number)) if len(text) < 40 else None


def place(request_id: int, number: int) -> str:
    """What the inquiry and the response of a patient are bound to."""
    return trace(request_id, number)


async def add(
    tx: Tx, id: int, created_at: int, payload: bytes | None, new: Sequence[NewInquiry]
) -> None:
    """Add a request of the scope with its inquiries."""
    await tx.run(_ADD, id=id, created_at=created_at, inquiries=len(new), payload=payload)
    rows = [
        {
            "request_id": id,
            "state": OPEN,
            # What goes out at once is with somebody from the start.
            "attempts": int(one.lane == FRONT),
            "answer": "",
            **one._asdict(),
        }
        for one in new
    ]
    if rows:
        await tx.many(_ADD_INQUIRY, rows)


async def find(tx: Tx, id: int) -> StoredRequest | None:
    """A request of the scope."""
    row = await tx.row(_FIND, id=id)
    return None if row is None else StoredRequest(*row)


async def owner(tx: Tx, id: int) -> tuple[int, int] | None:
    """Whose request it is: vendor and site."""
    row = await tx.row(_OWNER, id=id)
    return None if row is None else (int(row[0]), int(row[1]))


async def asked(tx: Tx, id: int) -> list[tuple[Asked, str]]:
    """The inquiries of a request, whoever's it is, each with its state."""
    return [(Asked(*row[:-1]), str(row[-1])) for row in await tx.rows(_ALL_ASKED, of=id)]


async def standing(tx: Tx, id: int) -> list[Standing]:
    """How far each patient of a request of the scope is, in the order of the document."""
    return [Standing(*row) for row in await tx.rows(_STANDING, request_id=id)]


async def responses(tx: Tx, id: int, numbers: Sequence[int]) -> list[Response]:
    """What came back for these patients of a request of the scope, in the order of the document."""
    rows = await tx.rows(_RESPONSES, request_id=id, numbers=list(numbers))
    return [Response(*row) for row in rows]


async def complete(tx: Tx, ids: Sequence[int]) -> set[int]:
    """Those of these requests, whoever's they are, that miss nothing any more."""
    return {int(id) for (id,) in await tx.rows(_COMPLETE, ids=list(ids))}


async def due_queues(tx: Tx, now: int) -> list[Queue]:
    """Where inquiries may be asked now."""
    return [Queue(*row) for row in await tx.rows(_DUE_QUEUES, now=now)]


async def open_queues(tx: Tx) -> list[Queue]:
    """Where inquiries are open, due or not."""
    return [Queue(*row) for row in await tx.rows(_OPEN_QUEUES)]


async def send_by_mail(tx: Tx, queue: Queue) -> int:
    """Let the open inquiries of a queue go out in files. Who has one in hand keeps it until its lease ends."""
    return await tx.run(
        _SEND_BY_MAIL, **{f"of_{name}": value for name, value in queue._asdict().items()}
    )


async def due(tx: Tx, queue: Queue, now: int, most: int) -> list[Asked]:
    """Open inquiries of a queue that may be asked now, the oldest first."""
    rows = await tx.rows(_DUE, **queue._asdict(), now=now, most=most)
    return [Asked(*row) for row in rows]


async def one(tx: Tx, request_id: int, number: int) -> tuple[Asked, str] | None:
    """One inquiry, whoever's it is, and its state."""
    row = await tx.row(_ONE, request_id=request_id, number=number)
    return None if row is None else (Asked(*row[:-1]), str(row[-1]))


async def take(tx: Tx, asked: Sequence[Asked], until: int) -> list[Asked]:
    """Take inquiries for oneself until a moment; those that nobody took meanwhile."""
    return [
        each._replace(next_at=until, attempts=each.attempts + 1)
        for each in asked
        if await tx.run(_TAKE, of=each.request_id, nth=each.number, seen=each.next_at, until=until)
    ]


async def put_back(tx: Tx, of: Sequence[tuple[int, int]], next_at: int) -> None:
    """Let these be asked again from a moment on."""
    await tx.many(
        _PUT_BACK, [{"of": request_id, "nth": nth, "later": next_at} for request_id, nth in of]
    )


async def mailed(tx: Tx, asked: Sequence[Asked], batch_id: int) -> None:
    """These went into a file."""
    await tx.many(
        _MAILED,
        [{"of": one.request_id, "nth": one.number, "into": batch_id} for one in asked],
    )


async def answered(
    tx: Tx, request_id: int, number: int, kind: str, at: int, content: bytes
) -> bool:
    """Keep what came back; False where something had come before. ``content`` is sealed."""
    return bool(
        await tx.run(_ANSWERED, of=request_id, nth=number, kind=kind, moment=at, content=content)
    )


async def of_batch(tx: Tx, batch_id: int) -> list[Asked]:
    """The inquiries that went into a file, in the order in which they stand there."""
    return [Asked(*row) for row in await tx.rows(_OF_BATCH, batch_id=batch_id)]


async def waiting(tx: Tx) -> int:
    """How many inquiries have no response."""
    row = await tx.row(_WAITING)
    return int(row[0]) if row else 0


async def purge(tx: Tx, before: int, most: int) -> int:
    """Forget requests that were made before a moment; how many there were."""
    ids = [int(id) for (id,) in await tx.rows(_OLD, before=before, most=most)]
    if ids:
        await tx.run(_PURGE_INQUIRIES, ids=ids)
        await tx.run(_PURGE, ids=ids)
    return len(ids)


_ADD = Statement(insertion(requests, *StoredRequest._fields))
_ADD_INQUIRY = Statement(
    insertion(inquiries, "request_id", *NewInquiry._fields, "state", "attempts", "answer")
)
_FIND = Statement(
    select(*(requests.c[name] for name in StoredRequest._fields)).where(
        mine(requests), requests.c.id == bindparam("id")
    )
)
_OWNER = Statement(
    select(requests.c.vendor_id, requests.c.site_id).where(requests.c.id == bindparam("id")),
    system=True,
)
_STANDING = Statement(
    select(*(inquiries.c[name] for name in Standing._fields))
    .where(mine(inquiries), inquiries.c.request_id == bindparam("request_id"))
    .order_by(inquiries.c.number)
)
_RESPONSES = Statement(
    select(*(inquiries.c[name] for name in Response._fields))
    .where(
        mine(inquiries),
        inquiries.c.request_id == bindparam("request_id"),
        among(inquiries.c.number, "numbers"),
        inquiries.c.response.is_not(None),
    )
    .order_by(inquiries.c.number)
)
# In the text itself, or no database would know that its index fits.
_OPEN = inquiries.c.state == literal(OPEN, literal_execute=True)
_UNANSWERED = inquiries.c.state != literal(ANSWERED, literal_execute=True)
_COMPLETE = Statement(
    select(requests.c.id).where(
        among(requests.c.id, "ids"),
        ~exists().where(inquiries.c.request_id == requests.c.id, _UNANSWERED),
    ),
    system=True,
)
_NAMES = [name for name in Asked._fields if name != "created_at"]
_ASKED = select(
    *(inquiries.c[name] for name in _NAMES[:-1]), requests.c.created_at, inquiries.c.inquiry
).select_from(inquiries.join(requests, requests.c.id == inquiries.c.request_id))
_THIS = (
    inquiries.c.request_id == bindparam("of"),
    inquiries.c.number == bindparam("nth"),
)
_DUE_QUEUES = Statement(
    select(*(inquiries.c[name] for name in Queue._fields))
    .where(_OPEN, inquiries.c.next_at <= bindparam("now"))
    .distinct()
    .order_by(*(inquiries.c[name] for name in Queue._fields)),
    system=True,
)
_OPEN_QUEUES = Statement(
    select(*(inquiries.c[name] for name in Queue._fields)).where(_OPEN).distinct(), system=True
)
_SEND_BY_MAIL = Statement(
    update(inquiries)
    .where(_OPEN, *(inquiries.c[name] == bindparam(f"of_{name}") for name in Queue._fields))
    .values(lane=MAIL),
    system=True,
)
_DUE = Statement(
    _ASKED.where(
        _OPEN,
        *(inquiries.c[name] == bindparam(name) for name in Queue._fields),
        inquiries.c.next_at <= bindparam("now"),
    )
    .order_by(inquiries.c.next_at)
    .limit(bindparam("most")),
    system=True,
)
_ONE = Statement(
    _ASKED.add_columns(inquiries.c.state).where(
        inquiries.c.request_id == bindparam("request_id"),
        inquiries.c.number == bindparam("number"),
    ),
    system=True,
)
_ALL_ASKED = Statement(
    _ASKED.add_columns(inquiries.c.state)
    .where(inquiries.c.request_id == bindparam("of"))
    .order_by(inquiries.c.number),
    system=True,
)
_OF_BATCH = Statement(
    _ASKED.where(inquiries.c.batch_id == bindparam("batch_id")).order_by(
        inquiries.c.request_id, inquiries.c.number
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
_WAITING = Statement(select(func.count()).select_from(inquiries).where(_UNANSWERED), system=True)
_OLD = Statement(
    select(requests.c.id)
    .where(requests.c.created_at < bindparam("before"))
    .order_by(requests.c.created_at)
    .limit(bindparam("most")),
    system=True,
)
_PURGE_INQUIRIES = Statement(
    delete(inquiries).where(among(inquiries.c.request_id, "ids")), system=True
)
_PURGE = Statement(delete(requests).where(among(requests.c.id, "ids")), system=True)
