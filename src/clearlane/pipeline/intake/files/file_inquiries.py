"""Ask about the patients of 270 files and the claims of 276 files, and gather the answers into one 271 or 277 file for each.

    page = seal_page(context, site, set_id, position, file_id, plan)     # staged while the file is read
    await ask_about_file(context, site, file_id)                         # once it is accepted
    await inquiry_file_tick(context, steps)                              # asks what is left, writes what is complete

A page of inquiries becomes one request of the inquiry engine, stored in one transaction with the link to its page: nothing
is asked twice, whatever ends in between. The answers are written when every inquiry of the file has a result, or when the
limit of waiting is over; those without an answer, also those that could not be asked, are then answered with AAA 42 or STC E2.
An answer that comes later is stored like any other, and the file is not written again.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any

import msgspec

from clearlane.accounts.model import Site
from clearlane.claims.responses.sender_set import SenderSet, answer_envelope
from clearlane.engine import fault_injection
from clearlane.engine.workflows import WorkSteps
from clearlane.inquiry.sender_levels import Level
from clearlane.kernel.clock import to_micros
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.kernel.log import get_logger
from clearlane.pipeline.inquiry.ask import ask
from clearlane.pipeline.inquiry.inquiry_plan import (
    AnySender,
    InquiryPlan,
    StoredPlan,
    results_by_path,
)
from clearlane.pipeline.inquiry.request_answers import load_answers
from clearlane.pipeline.inquiry.sender_transactions import SENDER_TRANSACTIONS, sender_of
from clearlane.pipeline.intake.files.control_block import ControlBlock
from clearlane.pipeline.intake.files.file_responses import (
    ClientResponse,
    publish_response,
    store_response,
)
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import inquiries
from clearlane.store.database.database import Tx
from clearlane.store.database.group_commit import TEMPORARY_FAULTS
from clearlane.store.files import client_files, file_sets, inquiry_pages
from clearlane.store.files.file_sets import FileSet
from clearlane.store.files.inquiry_pages import InquiryLink, InquiryPage
from clearlane.x12.delimiters import CANONICAL

log = get_logger()

NAME = "answer-inquiry-files"
EVERY_SECONDS = 5
INQUIRIES_PER_PAGE = 250
INQUIRIES_PER_SET_MAX = 5_000
"""More are not taken in one set: its answer is written as a whole."""
ANSWER_HOURS_MAX = 24
"""How long an answer waits for payers: as long as one that cannot be reached is asked again."""
ANSWER_TYPES = tuple(one.transaction.answer_set for one in SENDER_TRANSACTIONS.values())
PROGRESS = "Payers have answered "
"""How the sentence begins that says how far a file is."""
COMES = f"comes when all are answered, after {ANSWER_HOURS_MAX} hours at the latest"


class AskedBefore(Exception):
    """Other work has asked a page of inquiries, or answered it: this work must store nothing."""


def seal_page(
    context: WorkContext,
    site: Site,
    set_id: str,
    position: int,
    file_id: str,
    plan: InquiryPlan[Any, Any],
) -> InquiryPage:
    """Return a page of inquiries as it is stored."""
    key = inquiry_pages.page_key(set_id, position)
    content = _ENCODER.encode(plan)
    payload = context.vault.seal(site.scope, inquiry_pages.TABLE, key, content)
    return InquiryPage(set_id, position, file_id, payload)


def answer_words(answer_types: Collection[str]) -> str:
    """Return the name of the files that answer: ``271 file``."""
    return f"{' or '.join(sorted(answer_types))} file"


def progress_note(
    before: str, answered: int, asked: int, answer_types: Collection[str], *, is_written: bool
) -> str:
    """Return the note of a file with how many of its inquiries are answered."""
    other = before.partition(PROGRESS)[0].rstrip()
    until = "has what is known of each" if is_written else COMES
    file = answer_words(answer_types)
    said = f"{PROGRESS}{answered} of {asked} inquiries. The {file} {until}."
    return " ".join(filter(None, (other, said)))


async def inquiry_file_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Ask the inquiries of accepted files, and write the 271 and 277 files that are due."""
    await answer_inquiry_files(context)


async def answer_inquiry_files(context: WorkContext) -> int:
    """Do what is due for 270 and 276 files of all sites; return for how many the answers were written."""
    sites: dict[int, Site] = {site.id: site for site in context.accounts().sites}
    written = 0
    for file_id, pages in (await _waiting_files(context)).items():
        if (site := sites.get(pages[0].site_id)) is not None:
            written += await _try_work_on(context, site, file_id, pages)
    return written


async def ask_about_file(context: WorkContext, site: Site, file_id: str) -> None:
    """Ask the inquiries of a file that was just accepted. What fails is done by the tick."""
    if context.payer_access.inquiry_runner is None:
        return
    async with context.database.read(site.scope) as tx:
        pages = await inquiry_pages.list_links_of_file(tx, file_id)
    if pages:
        await _try_work_on(context, site, file_id, pages)


async def _waiting_files(context: WorkContext) -> dict[str, list[InquiryLink]]:
    """Return the accepted files of inquiries whose answers are not written, with their pages; none outside of a node."""
    if context.payer_access.inquiry_runner is None:
        return {}
    async with context.database.read(inquiry_pages.SCOPE) as tx:
        links = await inquiry_pages.list_links(tx)
    return {file_id: list(own) for file_id, own in groupby(links, attrgetter("file_id"))}


async def _try_work_on(
    context: WorkContext, site: Site, file_id: str, links: Sequence[InquiryLink]
) -> bool:
    """Work on a file; a fault of one file must not hold back the others."""
    try:
        return await _work_on(context, site, file_id, links)
    except AskedBefore:
        return False
    except Exception as fault:  # noqa: BLE001  (the next tick tries again)
        log.error(  # noqa: TRY400  (a traceback may hold values)
            "inquiries of a file not answered",
            file=file_id,
            fault=fault_code(fault),
            places=fault_frames(fault),
        )
        return False


async def _work_on(
    context: WorkContext, site: Site, file_id: str, links: Sequence[InquiryLink]
) -> bool:
    """Ask about pages that are left, or write the answers of a file if they are due; return whether they were written."""
    if to_micros(context.clock.now()) >= links[0].due_at:
        return await _write_answer(context, site, file_id, links)
    left = [link for link in links if link.inquiry_request_id is None]
    for link in left:
        await _try_ask(context, site, link)
    if left:
        return False
    requests = [link.inquiry_request_id for link in links if link.inquiry_request_id]
    async with context.database.read(inquiries.SCOPE) as tx:
        complete = await inquiries.complete_requests(tx, requests)
    if len(complete) < len(set(requests)):
        set_ids = sorted({link.set_id for link in links})
        await _note_progress(context, site, file_id, requests, set_ids)
        return False
    return await _write_answer(context, site, file_id, links)


async def _try_ask(context: WorkContext, site: Site, link: InquiryLink) -> None:
    """Ask about a page; one that fails must not hold back the pages after it, and is tried again by the next tick."""
    try:
        await _ask(context, site, link)
    except (AskedBefore, *TEMPORARY_FAULTS):
        raise
    except Exception as fault:  # noqa: BLE001  (the next tick tries again)
        details = {"fault": fault_code(fault), "places": fault_frames(fault)}
        log.error("inquiries of a file not asked", file=link.file_id, **details)  # noqa: TRY400  (a traceback may hold values)


async def _ask(context: WorkContext, site: Site, link: InquiryLink) -> None:
    """Ask the inquiries of a page, once."""
    plan = await _open_page(context, site, link)
    sender, now = sender_of(plan), context.clock.now()
    asked = list(plan.inquiries.values())

    async def connect(tx: Tx, inquiry_request_id: int) -> None:
        if not await inquiry_pages.link(tx, link.set_id, link.position, inquiry_request_id):
            raise AskedBefore
        await sender.note(tx, site, asked, to_micros(now))

    try:
        await ask(
            context,
            sender.transaction,
            asked,
            sender.validation_results(plan),
            site=site,
            actor=context.actor,
            now=now,
            note=f"file {link.file_id}",
            wait=None,
            also=connect,
        )
    except AskedBefore:
        return
    fault_injection.crash_point("inquiries asked")


async def _open_page(context: WorkContext, site: Site, link: InquiryLink) -> StoredPlan:
    async with context.database.read(site.scope) as tx:
        page = await inquiry_pages.find(tx, link.set_id, link.position)
        if page is None:
            raise AskedBefore
        await context.vault.load_keys_of(tx, [page.payload])
    key = inquiry_pages.page_key(link.set_id, link.position)
    content = context.vault.open(site.scope, inquiry_pages.TABLE, key, page.payload)
    return await asyncio.to_thread(_DECODER.decode, content)


async def _note_progress(
    context: WorkContext,
    site: Site,
    file_id: str,
    requests: Sequence[int],
    set_ids: Sequence[str],
) -> None:
    """Say in the note of the file how many inquiries are answered, if that has changed."""
    answered, asked = await _count_answered(context, site, requests)
    async with context.database.read(site.scope) as tx:
        file = await client_files.find(tx, file_id)
        sets = await file_sets.find_sets(tx, set_ids)
    before = file.note if file else ""
    note = progress_note(before, answered, asked, _answer_types(sets.values()), is_written=False)
    if note != before:
        await context.database.write(
            site.scope, lambda tx: client_files.set_note(tx, file_id, note), actor=context.actor
        )


async def _count_answered(
    context: WorkContext, site: Site, requests: Sequence[int]
) -> tuple[int, int]:
    async with context.database.read(site.scope) as tx:
        return await inquiries.count_answered(tx, requests)


async def _write_answer(
    context: WorkContext, site: Site, file_id: str, links: Sequence[InquiryLink]
) -> bool:
    """Write the answers of a file, once: the files that go back and the end of its pages are one transaction."""
    by_set = {set_id: list(own) for set_id, own in groupby(links, attrgetter("set_id"))}
    async with context.database.read(site.scope) as tx:
        file = await client_files.find(tx, file_id)
        sets = await file_sets.find_sets(tx, list(by_set))
        await context.vault.load_keys_of(tx, [one.payload for one in sets.values()])
    in_order = sorted(sets.values(), key=attrgetter("interchange", "group_number", "position"))
    types = _answer_types(in_order)
    responses = []
    for type in types:
        response = ClientResponse(
            type=type,
            response_key=f"{file_id}:{type}",
            stem=file.name if file else file_id,
            answers=file_id if file else "",
        )
        own = [(one, by_set[one.set_id]) for one in in_order if _answer_types([one]) == [type]]
        content = _written_sets(context, site, own)
        responses.append(await store_response(context, site, response, content))
    requests = [link.inquiry_request_id for link in links if link.inquiry_request_id]
    answered, asked = await _count_answered(context, site, requests)
    note = progress_note(file.note if file else "", answered, asked, types, is_written=True)
    fault_injection.crash_point("inquiries answered")

    async def job(tx: Tx) -> bool:
        removed = await inquiry_pages.remove_file(tx, file_id)
        for one in responses:
            if not removed or not await publish_response(tx, context, site, one):
                await client_files.drop_upload(tx, one.file_id)
        if not removed:
            return False
        await client_files.set_note(tx, file_id, note)
        for set_type in sorted({one.type for one in in_order}):
            subject = SENDER_TRANSACTIONS[set_type].transaction.subject
            tx.audit(f"{subject}.file_answered", ids=[file_id], count=asked)
        return True

    return await context.database.write(site.scope, job, actor=context.actor)


async def _written_sets(
    context: WorkContext, site: Site, sets: Sequence[tuple[FileSet, Sequence[InquiryLink]]]
) -> AsyncIterator[bytes]:
    """Yield the interchange that answers each set, in the sender's separators."""
    controls = await ControlBlock(context, site).take(len(sets))
    for control, (one, links) in zip(controls, sets, strict=True):
        header = _SENDER.decode(
            context.vault.open(site.scope, file_sets.TABLE, one.set_id, one.payload)
        )
        chains: list[list[Level]] = []
        for link in links:
            chains += await _page_levels(context, site, link)
        sender = SENDER_TRANSACTIONS[one.type]
        yield await asyncio.to_thread(_write_set, context, sender, header, control, chains)


def _answer_types(sets: Iterable[FileSet]) -> list[str]:
    """Return the transactions that answer some sets."""
    return sorted({SENDER_TRANSACTIONS[one.type].transaction.answer_set for one in sets})


async def _page_levels(context: WorkContext, site: Site, link: InquiryLink) -> list[list[Level]]:
    """Return what the answer says of the inquiries of a page."""
    plan = await _open_page(context, site, link)
    sender, today = sender_of(plan), context.clock.now().date()
    answers = await load_answers(
        context.database,
        context.vault,
        sender.transaction,
        site.scope,
        link.inquiry_request_id or 0,
    )
    results = {} if answers is None else await results_by_path(answers)
    return await asyncio.to_thread(lambda: list(sender.answer_levels(plan, results, today)))


def _write_set(
    context: WorkContext,
    sender: AnySender,
    header: SenderSet,
    control: int,
    chains: Sequence[Sequence[Level]],
) -> bytes:
    """Return the interchange that answers a set, in the sender's separators."""
    envelope = answer_envelope(header, control, context.clock.now())
    delimiters = header.delimiters if header.delimiters.repetition else CANONICAL
    own = replace(envelope, delimiters=delimiters)
    return sender.write_answer(own, header.batch_number, chains)


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(StoredPlan)
_SENDER = msgspec.msgpack.Decoder(SenderSet)
