"""The vault: payloads with patient data, compressed and encrypted, each bound to its row and vendor.

Knows data keys (for each site, month and class of retention, wrapped by the master key) and keyed hashes. Knows nothing
of what a payload holds.
"""

import hashlib
import secrets
import struct
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias

import zstandard
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import BigInteger, bindparam, select

from clearlane.kernel import limits
from clearlane.kernel.clock import Clock, to_micros
from clearlane.kernel.ids import Scope, VendorScope, random_bytes
from clearlane.kernel.retention_kinds import KeyClass
from clearlane.store.database.database import Actor, Database, SystemScope, Tx
from clearlane.store.database.group_commit import StoreFault
from clearlane.store.database.schema import data_keys
from clearlane.store.database.sql import Statement, among, insert_into
from clearlane.store.vault import keys as master
from clearlane.store.vault.keys import KEY_BYTES, NONCE_BYTES, InstallationKeys, MasterKeys

COMPRESSED, SHORT = 1, 2
"""The two forms of a payload, the first byte of each: a short one is encrypted as it is."""
HEADER = struct.Struct(">BQ")  # form, data key; then the nonce
NONCE_AT = HEADER.size
PAYLOAD_AT = NONCE_AT + NONCE_BYTES
LEVEL = 1
SHORT_BYTES_MAX = 512
"""Of a short payload, such as a claim's header or status, compression would save 20 to 60 bytes for half its time."""
FINGERPRINT_BYTES = 32
SEARCH_KEY_BYTES = 8
HASHED_AT_ONCE = 2_000
KEYS = SystemScope("data keys are the vault's own")


Owner: TypeAlias = Scope | VendorScope | tuple[int, int] | int
"""Whose key seals: that of a site (a scope, or the ids of vendor and site), or of a vendor for what belongs to no site."""

NO_SITE = 0
KEY_CLASSES: Mapping[str, str] = {
    name: of.value
    for of, names in {
        KeyClass.SHORT: (
            "claim_drafts", "client_file_parts", "file_inquiries", "idempotent_answers", "inquiries", "inquiry_requests",
            "inquiry_responses", "kept form", "staged_claims", "webhook_deliveries",
        ),
        KeyClass.ACCOUNT: (
            "console_users", "enrollments", "enrollment_payers", "routes", "sandbox", "sftp_host_keys", "webhook_endpoints",
        ),
    }.items()
    for name in names
}  # fmt: skip
"""The class of the key for what is sealed under a name; records for every other."""
_RECORDS = KeyClass.RECORDS.value


_KeyRow: TypeAlias = tuple[int, int, int, str, str, str, bytes]
_MONTH, _MASTER = 3, 5
"""Where a row has its month, and the id of the master key that wrapped it."""


class InvalidSeal(StoreFault):
    """A payload that cannot be opened: it was changed, moved from its row, or never sealed here."""


class KeyNotLoaded(StoreFault):
    """A data key that is not loaded: call ``ensure_key`` before ``seal``, ``load_keys_of`` before ``open``."""


@dataclass(frozen=True, slots=True)
class DataKey:
    """An unwrapped data key, ready to use."""

    id: int
    vendor: int
    site: int
    month: str
    retention: str
    cipher: AESGCM


class _CurrentKeys(dict[str, DataKey]):
    """The keys of an owner and month, by what they seal; filled from the classes as names are looked up."""

    def __init__(self, classes: Mapping[str, DataKey]) -> None:
        super().__init__()
        self._classes = classes
        self.month = classes[_RECORDS].month

    def __missing__(self, table: str) -> DataKey:
        key = self[table] = self._classes[KEY_CLASSES.get(table, _RECORDS)]
        return key


class Vault:
    """Seals and opens payloads, and makes keyed hashes."""

    def __init__(self, database: Database, keys: MasterKeys, clock: Clock) -> None:
        self._database = database
        self._keys = keys
        self._clock = clock
        self._installation: InstallationKeys | None = None
        self._rows: dict[int, _KeyRow] = {}
        """Data keys as they are stored, wrapped: with the years there are tens of thousands, and few are asked for."""
        self._known: dict[int, DataKey] = {}
        """Those that were unwrapped, which costs 2.5 kilobytes each."""
        self._current: dict[tuple[int, int], _CurrentKeys] = {}
        self._codec = _Codec()

    async def load(self) -> None:
        """Load the installation's keys, and every data key as it is stored; again when the "keys" revision changes.

        Keys of this month are unwrapped, and one key for each master key: a node without a master key does not start.
        """
        self._keys.reload()
        month = self._month()
        async with self._database.read(KEYS) as tx:
            installation = await master.load_installation_keys(tx, self._keys)
            rows = await tx.rows(_ALL)
        known: dict[int, DataKey] = {}
        current: dict[tuple[int, int], dict[str, DataKey]] = {}
        by_master = {row[_MASTER]: row for row in rows}
        for row in by_master.values():
            known[row[0]] = self._unwrap(*row)
        for row in rows:
            if row[_MONTH] == month:
                key = known[row[0]] = self._unwrap(*row)
                current.setdefault((key.vendor, key.site), {})[key.retention] = key
        whole = {own: keys for own, keys in current.items() if len(keys) == len(KeyClass)}
        self._rows = {row[0]: row for row in rows}
        self._installation, self._known = installation, known
        self._current = {own: _CurrentKeys(keys) for own, keys in whole.items()}

    async def ensure_key(self, owner: Owner) -> None:
        """Make sure that the owner's data keys of this month, one of each class, are durable and loaded.

        Nearly always they are, and this returns at once. Keys are committed by themselves before
        anything is sealed with them, so no payload can outlive its key.
        """
        if self.has_current_key(owner):
            return
        (vendor, site), month = _vendor_and_site(owner), self._month()

        async def job(tx: Tx) -> list[_KeyRow]:
            return [
                await self._find_or_make_key(tx, vendor, site, month, of.value) for of in KeyClass
            ]

        keys = {}
        for row in await self._database.write(KEYS, job, actor=Actor("node", "vault")):
            key = self._known[row[0]] = self._unwrap(*row)
            keys[key.retention] = key
        self._current[vendor, site] = _CurrentKeys(keys)

    def has_current_key(self, owner: Owner) -> bool:
        """Return whether the owner's data keys of this month are loaded."""
        present = self._current.get(_vendor_and_site(owner))
        return present is not None and present.month == self._month()

    def seal(self, owner: Owner, table: str, row_id: int | str, payload: bytes) -> bytes:
        """Compress a payload, unless it is short, and encrypt it for this one row of this one vendor."""
        # Every claim has several values sealed: the usual owners without a call, and one look-up for the table's class.
        own: tuple[int, int]
        if type(owner) is Scope:
            own = owner.vendor, owner.site
        else:
            own = owner if type(owner) is tuple else _vendor_and_site(owner)
        keys = self._current.get(own)
        if keys is None:
            raise KeyNotLoaded("the owner's data key is not loaded; await ensure_key() first")
        if len(payload) > limits.PAYLOAD_BYTES_MAX:
            raise ValueError(f"a payload is at most {limits.PAYLOAD_BYTES_MAX} bytes")
        nonce = random_bytes(NONCE_BYTES)
        form, packed = SHORT, payload
        if len(payload) > SHORT_BYTES_MAX:
            form, packed = COMPRESSED, self._codec.compressor.compress(payload)
        key = keys[table]
        sealed = key.cipher.encrypt(nonce, packed, _associated_data(own[0], table, row_id, form))
        return HEADER.pack(form, key.id) + nonce + sealed

    def open(self, owner: Owner, table: str, row_id: int | str, sealed: bytes) -> bytes:
        """Return the payload, proved to be the one that was sealed for this row."""
        form, key = self._key_of(sealed)
        bound = _associated_data(_vendor(owner), table, row_id, form)
        return self._decrypt(key, bound, sealed, table)

    def open_many(self, owner: Owner, table: str, rows: Iterable[tuple[str, bytes]]) -> list[bytes]:
        """Return the payloads of several rows of an owner, each as :meth:`open` does.

        A list has thousands, which were sealed with a few keys: what these share is found once.
        """
        vendor, found = _vendor(owner), []
        shared: dict[bytes, tuple[DataKey, bytes]] = {}
        for row_id, sealed in rows:
            header = sealed[:NONCE_AT]
            if header not in shared:
                form, key = self._key_of(sealed)
                shared[header] = key, _associated_data(vendor, table, "", form)
            key, bound = shared[header]
            found.append(self._decrypt(key, bound + row_id.encode(), sealed, table))
        return found

    async def load_keys_of(self, tx: Tx, sealed: Iterable[bytes]) -> None:
        """Load the data keys of these payloads that another node made since ours were loaded."""
        by_header = {each[: HEADER.size]: each for each in sealed}  # thousands have a few keys
        missing = {
            id
            for _, id in map(_header, by_header.values())
            if id not in self._known and id not in self._rows
        }
        if missing:
            for row in await tx.rows(_SOME, ids=sorted(missing)):
                self._known[row[0]] = self._unwrap(*row)

    def fingerprint(self, owner: Owner, kind: str, *parts: str | bytes) -> bytes:
        """Return a keyed hash: equal for equal parts of one vendor and kind, and revealing nothing else."""
        text = _kind_prefix(_vendor(owner), kind)
        for part in parts:
            word = part.encode() if isinstance(part, str) else part
            text += len(word).to_bytes(4, "big") + word
        # In pieces so small that hashlib does not release the interpreter lock: on a busy node getting it
        # back costs a hundred times the hash.
        hashed = hashlib.blake2b(
            text[:HASHED_AT_ONCE],
            key=self._secrets.fingerprint,
            digest_size=FINGERPRINT_BYTES,
        )
        for at in range(HASHED_AT_ONCE, len(text), HASHED_AT_ONCE):
            hashed.update(text[at : at + HASHED_AT_ONCE])
        return hashed.digest()

    def search_key(self, owner: Owner, kind: str, *parts: str) -> int:
        """Return a keyed hash of 64 bits, as a signed number: for columns that are searched.

        Every claim has several, so it is made in one call of the hash.
        """
        text = f"{_vendor(owner)}\0{kind}\0{chr(0).join(parts)}".encode()
        hashed = hashlib.blake2b(text, key=self._secrets.fingerprint, digest_size=SEARCH_KEY_BYTES)
        return int.from_bytes(hashed.digest(), "big", signed=True)

    @property
    def pepper(self) -> bytes:
        """The key that hashes vendor secrets."""
        return self._secrets.pepper

    @property
    def audit_key(self) -> bytes:
        """The key of the audit chain."""
        return self._secrets.audit

    @property
    def proof_seed(self) -> bytes:
        """The seed of the Ed25519 key that signs proofs of filing."""
        return self._secrets.proof

    @property
    def _secrets(self) -> InstallationKeys:
        if self._installation is None:
            raise KeyNotLoaded("the vault is not loaded")
        return self._installation

    async def _find_or_make_key(
        self, tx: Tx, vendor: int, site: int, month: str, retention: str
    ) -> _KeyRow:
        """Return the owner's key of the month and class: another node's, or a new one."""
        found = await tx.row(
            _OF_MONTH, vendor_id=vendor, site_id=site, month=month, retention=retention
        )
        if found is not None:
            return found
        # A random id: after a restore to an earlier state, no key gets the id of another.
        id = secrets.randbits(62) + 1
        master_id, wrapped = self._keys.wrap(
            secrets.token_bytes(KEY_BYTES), data_key_binding(id, vendor, site, month, retention)
        )
        row = (id, vendor, site, month, retention, master_id, wrapped)
        now = to_micros(self._clock.now())
        await tx.run(_ADD, created_at=now, **dict(zip(_KEY_COLUMNS, row, strict=True)))
        return row

    def _unwrap_stored(self, id: int) -> DataKey | None:
        """Return a data key that is asked for the first time; None if it is not loaded."""
        row = self._rows.get(id)
        if row is None:
            return None
        key = self._known[id] = self._unwrap(*row)
        return key

    def _unwrap(
        self,
        id: int,
        vendor: int,
        site: int,
        month: str,
        retention: str,
        master_id: str,
        wrapped: bytes,
    ) -> DataKey:
        binding = data_key_binding(id, vendor, site, month, retention)
        secret = self._keys.unwrap(master_id, wrapped, binding)
        return DataKey(id, vendor, site, month, retention, AESGCM(secret))

    def _key_of(self, sealed: bytes) -> tuple[int, DataKey]:
        """Return the form of a payload, and its data key."""
        form, id = _header(sealed)
        key = self._known.get(id) or self._unwrap_stored(id)
        if key is None:
            raise KeyNotLoaded("the payload's data key is not loaded; await load_keys_of() first")
        return form, key

    def _decrypt(self, key: DataKey, bound: bytes, sealed: bytes, table: str) -> bytes:
        try:
            packed = key.cipher.decrypt(sealed[NONCE_AT:PAYLOAD_AT], sealed[PAYLOAD_AT:], bound)
        except (InvalidTag, ValueError):
            raise InvalidSeal(f"{table}: the payload is not the one sealed for this row") from None
        return packed if sealed[0] == SHORT else self._decompress(packed, table)

    def _decompress(self, packed: bytes, table: str) -> bytes:
        try:
            if zstandard.frame_content_size(packed) <= limits.PAYLOAD_BYTES_MAX:
                return self._codec.decompressor.decompress(
                    packed, max_output_size=limits.PAYLOAD_BYTES_MAX
                )
        except zstandard.ZstdError:
            pass
        raise InvalidSeal(f"{table}: the payload cannot be decompressed")

    def _month(self) -> str:
        now = self._clock.now()
        return f"{now.year:04}-{now.month:02}"


class _Codec(threading.local):
    """Compressors and a decompressor for each thread: they cannot be shared."""

    @cached_property
    def compressor(self) -> zstandard.ZstdCompressor:
        return zstandard.ZstdCompressor(level=LEVEL)

    @cached_property
    def decompressor(self) -> zstandard.ZstdDecompressor:
        return zstandard.ZstdDecompressor()


def data_key_binding(id: int, vendor: int, site: int, month: str, retention: str) -> str:
    """Return what a wrapped data key is bound to."""
    return f"data_keys:{id}:{vendor}:{site}:{month}:{retention}"


def _associated_data(vendor: int, table: str, row_id: int | str, form: int) -> bytes:
    """Return what a payload is bound to. A number and its text are two different rows."""
    kind = "n" if isinstance(row_id, int) else "t"
    return f"{form}\0{vendor}\0{table}\0{kind}{row_id}".encode()


_FORMS = (COMPRESSED, SHORT)


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _kind_prefix(vendor: int, kind: str) -> bytes:
    """Return how the text of a fingerprint begins."""
    return b"".join(
        [len(word).to_bytes(4, "big") + word for word in (str(vendor).encode(), kind.encode())]
    )


def _vendor(owner: Owner) -> int:
    return owner if type(owner) is int else _vendor_and_site(owner)[0]  # nearly always a number


def _vendor_and_site(owner: Owner) -> tuple[int, int]:
    if isinstance(owner, Scope):
        return owner.vendor, owner.site
    if isinstance(owner, tuple):
        return owner
    return (owner if isinstance(owner, int) else owner.vendor), NO_SITE


def _header(sealed: bytes) -> tuple[int, int]:
    """Return the form of a payload and the id of its data key."""
    if len(sealed) < PAYLOAD_AT or sealed[0] not in _FORMS:
        raise InvalidSeal("this is not a sealed payload of a form we know")
    form, id = HEADER.unpack_from(sealed)
    return form, id


_KEY_COLUMNS = ("id", "vendor_id", "site_id", "month", "retention", "master_id", "wrapped")
_COLUMNS = select(*(data_keys.c[name] for name in _KEY_COLUMNS))
_ALL = Statement(_COLUMNS.order_by(data_keys.c.created_at, data_keys.c.id))
_SOME = Statement(_COLUMNS.where(among(data_keys.c.id, "ids")))
_OF_MONTH = Statement(
    _COLUMNS.where(
        data_keys.c.vendor_id == bindparam("vendor_id", type_=BigInteger),
        data_keys.c.site_id == bindparam("site_id", type_=BigInteger),
        data_keys.c.month == bindparam("month"),
        data_keys.c.retention == bindparam("retention"),
    )
    .order_by(data_keys.c.created_at.desc(), data_keys.c.id.desc())
    .limit(1)
)
_ADD = Statement(insert_into(data_keys, *_KEY_COLUMNS, "created_at"))
