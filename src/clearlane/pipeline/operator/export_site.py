"""Export everything of one site into a directory: JSON lines, X12 and the files themselves, with a signed manifest.

    async for progress in SiteExport(context, site, directory).run(actor): ...

Written page by page, so that neither memory nor a long transaction is needed. After each page the place is noted: an export
that was interrupted goes on there. The directory holds patient data, readable by its owner alone.
"""

import asyncio
import hashlib
import json
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec

from clearlane import __version__
from clearlane.accounts.model import Site
from clearlane.claims.claim_status import decode_claim_status
from clearlane.claims.read.decode import restore_claim
from clearlane.kernel.clock import moment_text
from clearlane.pipeline.intake.claim_x12 import write_claim_837
from clearlane.pipeline.load_claim import open_claim_content
from clearlane.pipeline.stored_facts import open_document_source
from clearlane.pipeline.work_context import WorkContext
from clearlane.proofs.signing import is_signed, public_key_of, sign
from clearlane.store import enrollments, inquiries
from clearlane.store.claims import claims, documents, facts, work_items
from clearlane.store.claims.claim_query import STATUS_COLUMN
from clearlane.store.database.database import Actor, OperationRefused, Tx, write_audit
from clearlane.store.files import file_parts
from clearlane.store.payments import payments, share_closings
from clearlane.store.retention import site_rows
from clearlane.store.retention.site_rows import Row, SitePage
from clearlane.store.vault.private_files import write_private

MANIFEST, PLACE, FILES = "manifest.json", "export.state", "files"
FORMAT = "clearlane site export 1"
CLAIMS_AT_ONCE, ROWS_AT_ONCE, FILES_AT_ONCE = 100, 100, 10
HASHED_AT_ONCE = 1 << 20
PARTS = ("claims", "payments", "files", "enrollments", "inquiries")
JSON_LINES, X12 = ".jsonl", ".x12"
CLAIMS_FILE, DOCUMENTS_FILE, PAYMENTS_FILE, FILES_FILE, ENROLLMENTS_FILE, INQUIRIES_FILE = (
    f"{name}{JSON_LINES}" for name in ("claims", "documents", *PARTS[1:])
)
X12_FILE = f"claims{X12}"


class ExportPlace(msgspec.Struct):
    """How far an export is; written after each page."""

    site: str
    as_of: str
    part: int = 0
    after: str = ""
    bytes: dict[str, int] = {}
    rows: dict[str, int] = {}


@dataclass(frozen=True, slots=True)
class ExportedPage:
    """What one page adds: lines, by the file that they go to."""

    lines: Mapping[str, Sequence[bytes]]
    after: str | None


@dataclass(frozen=True, slots=True)
class ExportProgress:
    """How far an export is."""

    part: str
    rows: int


@dataclass(slots=True)
class SiteExport:
    """An export of one site into one directory."""

    context: WorkContext
    site: Site
    directory: Path
    place: ExportPlace = field(init=False)

    async def run(self, actor: Actor) -> AsyncIterator[ExportProgress]:
        """Export, or go on with an export that was interrupted; yield how far it is after each page."""
        self.place = await asyncio.to_thread(self._begin)
        await write_audit(
            self.context.database,
            self.site.scope,
            "site.export",
            detail=self.place.as_of,
            actor=actor,
        )
        began = perf_counter()
        while self.place.part < len(PARTS):
            # As long as a page takes: half of the speed is left to those who wait.
            await asyncio.sleep(perf_counter() - began)
            part, began = PARTS[self.place.part], perf_counter()
            page = await _PAGES[part](self, self.place.after)
            await asyncio.to_thread(self._write, page)
            yield ExportProgress(part, sum(self.place.rows.values()))
        await asyncio.to_thread(self._finish)
        await write_audit(
            self.context.database,
            self.site.scope,
            "site.exported",
            count=sum(self.place.rows.values()),
            detail=_hash_of(self.directory / MANIFEST),
            actor=actor,
        )

    def _begin(self) -> ExportPlace:
        """Make the directory, or find the place of an interrupted export and cut what was written after it."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.directory / FILES).mkdir(mode=0o700, exist_ok=True)
        if (self.directory / MANIFEST).exists():
            raise OperationRefused(
                f"{self.directory} holds a finished export: name another directory."
            )
        noted = self.directory / PLACE
        if not noted.exists():
            others = [one.name for one in self.directory.iterdir() if one.name != FILES]
            if others:
                raise OperationRefused(f"{self.directory} is not empty: name another directory.")
            now = moment_text(self.context.clock.now())
            return ExportPlace(self.site.vendor_site_id, now)
        place = msgspec.json.decode(noted.read_bytes(), type=ExportPlace)
        if place.site != self.site.vendor_site_id:
            raise OperationRefused(f"{self.directory} holds an export of site {place.site}.")
        for file in self.directory.glob("*.*"):
            if file.name != PLACE:
                os.truncate(file, place.bytes.get(file.name, 0))
        return place

    def _write(self, page: ExportedPage) -> None:
        """Append the lines of a page, and note the place behind it."""
        for name, lines in page.lines.items():
            handle = os.open(
                self.directory / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600
            )
            with os.fdopen(handle, "ab") as target:
                target.writelines(lines)
                target.flush()
                os.fsync(target.fileno())
                self.place.bytes[name] = target.tell()
            self.place.rows[name] = self.place.rows.get(name, 0) + len(lines)
        if page.after is None:
            self.place.part, self.place.after = self.place.part + 1, ""
        else:
            self.place.after = page.after
        write_private(self.directory / PLACE, msgspec.json.encode(self.place))

    def _finish(self) -> None:
        """Write the manifest: every file with its hash, signed by the key that signs proofs of filing."""
        names = sorted(
            one.name for one in self.directory.iterdir() if one.suffix in {JSON_LINES, X12}
        )
        content = {
            "format": FORMAT,
            "version": __version__,
            "vendor_site_id": self.site.vendor_site_id,
            "client_id": self.site.client_id,
            "name": self.site.name,
            "as_of": self.place.as_of,
            "finished_at": moment_text(self.context.clock.now()),
            "files": {
                name: {
                    "rows": self.place.rows.get(name, 0),
                    "bytes": (self.directory / name).stat().st_size,
                    "sha256": _hash_of(self.directory / name),
                }
                for name in names
            },
        }
        write_private(self.directory / MANIFEST, signed_text(self.context, content).encode())
        (self.directory / PLACE).unlink(missing_ok=True)

    async def _read(
        self, read: Callable[[Tx], Awaitable[SitePage]], *parts: tuple[str, str]
    ) -> tuple[SitePage, dict[str, list[Row]]]:
        """Read a page and what belongs to its rows in one snapshot, with the keys of all that is sealed."""
        async with self.context.database.read(self.site.scope) as tx:
            page = await read(tx)
            found = {
                name: await site_rows.list_parts(tx, name, [row[key] for row in page.rows])
                for name, key in parts
            }
            every = [page.rows, *found.values()]
            await self.context.vault.load_keys_of(
                tx, _sealed(row for rows in every for row in rows)
            )
        return page, found

    async def _claims(self, after: str) -> ExportedPage:
        context, scope = self.context, self.site.scope
        page, parts = await self._read(
            lambda tx: site_rows.list_claims(tx, after, CLAIMS_AT_ONCE),
            ("claim_events", "claim_number"),
            ("claim_notes", "claim_number"),
            ("work_items", "claim_number"),
            ("sendings", "claim_number"),
        )
        numbers = [row["claim_number"] for row in page.rows]
        async with context.database.read(scope) as tx:
            known = await facts.list_own(tx, numbers)
            papers = await documents.list_for_claims(tx, numbers)
            await context.vault.load_keys_of(
                tx, [*(one.payload for one in known), *(one.payload for one in papers)]
            )
        return await asyncio.to_thread(self._claim_lines, page, parts, known, papers)

    def _claim_lines(
        self,
        page: SitePage,
        parts: dict[str, list[Row]],
        known: list[facts.FactRow],
        papers: list[documents.StoredDocument],
    ) -> ExportedPage:
        scope, vault = self.site.scope, self.context.vault
        of = {name: _by(rows, "claim_number") for name, rows in parts.items()}
        stated: dict[str, list[Row]] = defaultdict(list)
        for fact in known:
            place = facts.row_key(fact.claim_number, fact.identity)
            content = msgspec.Raw(vault.open(scope, facts.TABLE, place, fact.payload))
            stated[fact.claim_number].append(
                {
                    "kind": fact.kind,
                    "at": fact.at,
                    "document_id": fact.document_id,
                    "content": content,
                }
            )
        lines, x12 = [], []
        for row in page.rows:
            number = row["claim_number"]
            opened = open_claim_content(vault.open(scope, claims.TABLE, number, row.pop("payload")))
            status = row.pop("status")
            row["content"] = opened.claim
            row["repairs"] = opened.repairs
            row["findings"] = opened.findings
            row["given"] = opened.given
            row["status"] = status and decode_claim_status(
                vault.open(scope, STATUS_COLUMN, number, status)
            )
            row["events"] = _without(of["claim_events"][number], "claim_number")
            row["sendings"] = _without(of["sendings"][number], "claim_number")
            row["facts"] = stated[number]
            row["notes"] = [self._note(one) for one in of["claim_notes"][number]]
            row["work"] = [self._work(one) for one in of["work_items"][number]]
            lines.append(_line(row))
            if row["state"] not in claims.NEVER_SENT:
                x12 += self._claim_x12(row, bytes(opened.claim))
        shown = [self._document(one) for one in papers]
        found = {CLAIMS_FILE: lines, X12_FILE: x12, DOCUMENTS_FILE: shown}
        return ExportedPage(found, page.after)

    def _claim_x12(self, row: Row, content: bytes) -> list[bytes]:
        """Return a claim as its payer gets it, an interchange of its own; nothing if it cannot be written."""
        try:
            return [
                write_claim_837(
                    self.context,
                    restore_claim(row["form"], content),
                    number=row["claim_number"],
                    payer_id=row["payer_id"],
                    account_as_number=bool(row["account_as_number"]),
                    now=self.context.clock.now(),
                )
            ]
        except ValueError:
            return []

    def _document(self, row: documents.StoredDocument) -> bytes:
        source = open_document_source(self.context.vault, row)
        return _line(
            {
                "document_id": row.document_id,
                "claim_number": row.claim_number,
                "kind": row.kind,
                "created_at": row.created_at,
                "x12": source.part.decode("latin-1"),
                "fact": source.fact,
            }
        )

    def _note(self, row: Row) -> Row:
        sealed = row.pop("payload")
        text = self.context.vault.open(self.site.scope, work_items.NOTES, row["note_id"], sealed)
        return {**_but(row, "claim_number"), "text": text.decode()}

    def _work(self, row: Row) -> Row:
        sealed, number = row.pop("payload"), row["claim_number"]
        vault, scope = self.context.vault, self.site.scope
        text = vault.open(scope, work_items.TABLE, number, sealed).decode() if sealed else ""
        return {**_but(row, "claim_number"), "reason": text}

    async def _payments(self, after: str) -> ExportedPage:
        vault, scope = self.context.vault, self.site.scope
        page, parts = await self._read(
            lambda tx: site_rows.list_payments(tx, after, ROWS_AT_ONCE),
            ("claim_payments", "payment_id"),
        )
        of = _by(parts["claim_payments"], "payment_id")
        for row in page.rows:
            id, note = row["payment_id"], row.pop("note")
            heading = vault.open(payments.OWNER, payments.TABLE, id, row.pop("payload"))
            row["payment"] = msgspec.Raw(heading)
            row["note"] = note and vault.open(scope, share_closings.TABLE, id, note).decode()
            row["claim_payments"] = _without(of[id], "payment_id")
        return ExportedPage({PAYMENTS_FILE: [_line(row) for row in page.rows]}, page.after)

    async def _files(self, after: str) -> ExportedPage:
        page, _ = await self._read(lambda tx: site_rows.list_files(tx, after, FILES_AT_ONCE))
        for row in page.rows:
            row["sha256"] = await self._copy(row["file_id"])
        return ExportedPage({FILES_FILE: [_line(row) for row in page.rows]}, page.after)

    async def _copy(self, file_id: str) -> str:
        """Write the bytes of a file under its id; return their SHA-256."""
        target, hashed = self.directory / FILES / file_id, hashlib.sha256()
        chunks = file_parts.read_chunks(
            self.context.database, self.context.vault, self.site.scope, file_id
        )
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "wb") as opened:
            async for chunk in chunks:
                hashed.update(chunk)
                await asyncio.to_thread(opened.write, chunk)
            await asyncio.to_thread(_to_disk, opened)
        return hashed.hexdigest()

    async def _enrollments(self, after: str) -> ExportedPage:
        vault, scope = self.context.vault, self.site.scope
        page, parts = await self._read(
            lambda tx: site_rows.list_enrollments(tx, after, ROWS_AT_ONCE),
            ("enrollment_payers", "id"),
            ("enrollment_events", "id"),
        )
        payers = _by(parts["enrollment_payers"], "enrollment_id")
        events = _by(parts["enrollment_events"], "enrollment_id")
        for row in page.rows:
            id = row["id"]
            row["enrollment"] = msgspec.Raw(
                vault.open(scope, enrollments.TABLE, id, row.pop("payload"))
            )
            for one in payers[id]:
                key = (one["payer_type"], one["payer_id"], one["transaction"])
                place, reason = enrollments.reason_row_key(id, key), one["reason"]
                one["reason"] = (
                    reason and vault.open(scope, enrollments.REASONS, place, reason).decode()
                )
            row["payers"] = _without(payers[id], "enrollment_id")
            row["events"] = _without(events[id], "enrollment_id")
        return ExportedPage({ENROLLMENTS_FILE: [_line(row) for row in page.rows]}, page.after)

    async def _inquiries(self, after: str) -> ExportedPage:
        vault, scope = self.context.vault, self.site.scope
        page, parts = await self._read(
            lambda tx: site_rows.list_requests(tx, after, ROWS_AT_ONCE), ("inquiries", "id")
        )
        asked = _by(parts["inquiries"], "inquiry_request_id")
        for row in page.rows:
            id, sealed = row["id"], row.pop("payload")
            if sealed:
                row["not_sent"] = msgspec.Raw(vault.open(scope, inquiries.REQUESTS, id, sealed))
            for one in asked[id]:
                key, response = inquiries.trace(id, one["number"]), one["response"]
                content = vault.open(scope, inquiries.INQUIRIES, key, one["inquiry"])
                one["inquiry"] = msgspec.Raw(content)
                if response:
                    opened = vault.open(scope, inquiries.RESPONSES, key, response)
                    one["response"] = msgspec.Raw(opened)
            row["inquiries"] = _without(asked[id], "inquiry_request_id")
        return ExportedPage({INQUIRIES_FILE: [_line(row) for row in page.rows]}, page.after)


_PAGES: Mapping[str, Callable[[SiteExport, str], Awaitable[ExportedPage]]] = {
    "claims": SiteExport._claims,  # noqa: SLF001
    "payments": SiteExport._payments,  # noqa: SLF001
    "files": SiteExport._files,  # noqa: SLF001
    "enrollments": SiteExport._enrollments,  # noqa: SLF001
    "inquiries": SiteExport._inquiries,  # noqa: SLF001
}


def verify_export(directory: Path, public_key: bytes | None = None) -> dict[str, Any]:
    """Return the manifest of an export whose signature and files are as they were written; refuse any other."""
    try:
        signed = json.loads((directory / MANIFEST).read_bytes())
        content, key = signed["content"], bytes.fromhex(signed["public_key"])
        signature = bytes.fromhex(signed["signature"])
    except (OSError, ValueError, KeyError, TypeError):
        raise OperationRefused(f"{directory} holds no finished export.") from None
    if not is_signed(key, signature, _signed_bytes(content)) or public_key not in {None, key}:
        raise OperationRefused(
            f"{directory / MANIFEST} was changed, or another installation wrote it."
        )
    for name, stated in content["files"].items():
        file = directory / name
        if not file.is_file() or _hash_of(file) != stated["sha256"]:
            raise OperationRefused(f"{file} is missing, or was changed after the export.")
    with (directory / FILES_FILE).open("rb") as rows:
        for line in rows:
            row = json.loads(line)
            file = directory / FILES / row["file_id"]
            if not file.is_file() or _hash_of(file) != row["sha256"]:
                raise OperationRefused(f"{file} is missing, or was changed after the export.")
    found: dict[str, Any] = content
    return found


def signed_text(context: WorkContext, content: Mapping[str, Any]) -> str:
    """Return content as JSON, with a signature by the key of the installation that signs proofs of filing."""
    seed = context.vault.proof_seed
    signed = {
        "content": content,
        "public_key": public_key_of(seed).hex(),
        "signature": sign(seed, _signed_bytes(content)).hex(),
    }
    return json.dumps(signed, indent=2, ensure_ascii=False) + "\n"


def _signed_bytes(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _hash_of(file: Path) -> str:
    hashed = hashlib.sha256()
    with file.open("rb") as opened:
        while chunk := opened.read(HASHED_AT_ONCE):
            hashed.update(chunk)
    return hashed.hexdigest()


def _to_disk(opened: Any) -> None:
    opened.flush()
    os.fsync(opened.fileno())


def _line(row: Row) -> bytes:
    return msgspec.json.encode(row) + b"\n"


def _sealed(rows: Iterable[Row]) -> list[bytes]:
    return [value for row in rows for value in row.values() if isinstance(value, bytes)]


def _by(rows: Sequence[Row], key: str) -> defaultdict[Any, list[Row]]:
    found: defaultdict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        found[row[key]].append(row)
    return found


def _but(row: Row, name: str) -> Row:
    return {key: value for key, value in row.items() if key != name}


def _without(rows: Sequence[Row], name: str) -> list[Row]:
    return [_but(row, name) for row in rows]
