"""The vault: payloads with patient data, compressed and encrypted, each bound to its row and vendor.

Knows data keys (one per vendor and month, wrapped by the master key) and keyed hashes. Knows nothing
of what a payload holds.
"""

import hashlib
import secrets
import struct
import threading
from collections.abc import Iterable
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
from clearlane.store.database.database import Actor, Database, SystemScope, Tx
from clearlane.store.database.group_commit import StoreFault
from clearlane.store.database.schema import data_keys
from clearlane.store.database.sql import Statement, among, insert_into
from clearlane.store.vault import keys as master
from clearlane.store.vault.keys import KEY_BYTES, NONCE_BYTES, InstallationKeys, MasterKeys

COMPRESSED, SHORT = 1, 2
"""The two forms of a payload, the first byte of each: a short one is encrypted as it is."""
HEADER = struct.Struct(">BQ")  # form, data key; then the nonce
PAYLOAD_AT = HEADER.size + NONCE_BYTES
LEVEL = 1
SHORT_BYTES_MAX = 512
"""Of a short payload, such as a claim's header or status, compression would save 20 to 60 bytes for half its time."""
FINGERPRINT_BYTES = 32
SEARCH_KEY_BYTES = 8
HASHED_AT_ONCE = 2_000
KEYS = SystemScope("data keys are the vault's own")


Owner: TypeAlias = Scope | VendorScope | int
"""Whose key seals: that of the vendor."""


class InvalidSeal(StoreFault):
    """A payload that cannot be opened: it was changed, moved from its row, or never sealed here."""


class KeyNotLoaded(StoreFault):
    """A data key that is not loaded: call ``ensure_key`` before ``seal``, ``load_keys_of`` before ``open``."""


@dataclass(frozen=True, slots=True)
class DataKey:
    """An unwrapped data key, ready to use."""

    id: int
    month: str
    cipher: AESGCM


class Vault:
    """Seals and opens payloads, and makes keyed hashes."""

    def __init__(self, database: Database, keys: MasterKeys, clock: Clock) -> None:
        self._database = database
        self._keys = keys
        self._clock = clock
        self._installation: InstallationKeys | None = None
        self._known: dict[int, DataKey] = {}
        self._current: dict[int, DataKey] = {}
        self._codec = _Codec()

    async def load(self) -> None:
        """Load the installation's keys and every data key; again when the "keys" revision changes."""
        self._keys.reload()
        month = self._month()
        async with self._database.read(KEYS) as tx:
            installation = await master.load_installation_keys(tx, self._keys)
            rows = await tx.rows(_ALL)
        known, current = {}, {}
        for id, vendor, of_month, master_id, wrapped in rows:
            known[id] = self._unwrap(id, vendor, of_month, master_id, wrapped)
            if of_month == month:
                current[vendor] = known[id]
        self._installation, self._known, self._current = installation, known, current

    async def ensure_key(self, owner: Owner) -> None:
        """Make sure that the vendor's data key of this month is durable and loaded.

        Nearly always it is, and this returns at once. The key is committed by itself before
        anything is sealed with it, so no payload can outlive its key.
        """
        if self.has_current_key(owner):
            return
        vendor, month = _vendor(owner), self._month()
        row = await self._database.write(
            KEYS, lambda tx: self._find_or_make_key(tx, vendor, month), actor=Actor("node", "vault")
        )
        self._current[vendor] = self._known[row[0]] = self._unwrap(*row)

    def has_current_key(self, owner: Owner) -> bool:
        """Return whether the vendor's data key of this month is loaded."""
        present = self._current.get(_vendor(owner))
        return present is not None and present.month == self._month()

    def seal(self, owner: Owner, table: str, row_id: int | str, payload: bytes) -> bytes:
        """Compress a payload, unless it is short, and encrypt it for this one row of this one vendor."""
        vendor = _vendor(owner)
        key = self._current.get(vendor)
        if key is None:
            raise KeyNotLoaded("the vendor's data key is not loaded; await ensure_key() first")
        if len(payload) > limits.PAYLOAD_BYTES_MAX:
            raise ValueError(f"a payload is at most {limits.PAYLOAD_BYTES_MAX} bytes")
        nonce = random_bytes(NONCE_BYTES)
        form, packed = SHORT, payload
        if len(payload) > SHORT_BYTES_MAX:
            form, packed = COMPRESSED, self._codec.compressor.compress(payload)
        sealed = key.cipher.encrypt(nonce, packed, _associated_data(vendor, table, row_id, form))
        return HEADER.pack(form, key.id) + nonce + sealed

    def open(self, owner: Owner, table: str, row_id: int | str, sealed: bytes) -> bytes:
        """Return the payload, proved to be the one that was sealed for this row."""
        vendor = _vendor(owner)
        key = self._known.get(_key_id(sealed))
        if key is None:
            raise KeyNotLoaded("the payload's data key is not loaded; await load_keys_of() first")
        nonce, body = sealed[HEADER.size : PAYLOAD_AT], sealed[PAYLOAD_AT:]
        try:
            bound = _associated_data(vendor, table, row_id, sealed[0])
            packed = key.cipher.decrypt(nonce, body, bound)
        except (InvalidTag, ValueError):
            raise InvalidSeal(f"{table}: the payload is not the one sealed for this row") from None
        return packed if sealed[0] == SHORT else self._decompress(packed, table)

    async def load_keys_of(self, tx: Tx, sealed: Iterable[bytes]) -> None:
        """Load the data keys of these payloads that another node made since ours were loaded."""
        missing = {_key_id(each) for each in sealed} - self._known.keys()
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
        self, tx: Tx, vendor: int, month: str
    ) -> tuple[int, int, str, str, bytes]:
        """Return the vendor's key of the month: another node's, or a new one."""
        found = await tx.row(_OF_MONTH, vendor_id=vendor, month=month)
        if found is not None:
            return found
        # A random id: after a restore to an earlier state, no key gets the id of another.
        id = secrets.randbits(62) + 1
        master_id, wrapped = self._keys.wrap(
            secrets.token_bytes(KEY_BYTES), data_key_binding(id, vendor, month)
        )
        row = (id, vendor, month, master_id, wrapped)
        names = ("id", "vendor_id", "month", "master_id", "wrapped")
        now = to_micros(self._clock.now())
        await tx.run(_ADD, created_at=now, **dict(zip(names, row, strict=True)))
        return row

    def _unwrap(self, id: int, vendor: int, month: str, master_id: str, wrapped: bytes) -> DataKey:
        secret = self._keys.unwrap(master_id, wrapped, data_key_binding(id, vendor, month))
        return DataKey(id, month, AESGCM(secret))

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


def data_key_binding(id: int, vendor: int, month: str) -> str:
    """Return what a wrapped data key is bound to."""
    return f"data_keys:{id}:{vendor}:{month}"


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
    return owner if isinstance(owner, int) else owner.vendor


def _key_id(sealed: bytes) -> int:
    if len(sealed) < PAYLOAD_AT or sealed[0] not in _FORMS:
        raise InvalidSeal("this is not a sealed payload of a form we know")
    return int(HEADER.unpack_from(sealed)[1])


_COLUMNS = select(
    data_keys.c.id,
    data_keys.c.vendor_id,
    data_keys.c.month,
    data_keys.c.master_id,
    data_keys.c.wrapped,
)
_ALL = Statement(_COLUMNS.order_by(data_keys.c.created_at, data_keys.c.id))
_SOME = Statement(_COLUMNS.where(among(data_keys.c.id, "ids")))
_OF_MONTH = Statement(
    _COLUMNS.where(
        data_keys.c.vendor_id == bindparam("vendor_id", type_=BigInteger),
        data_keys.c.month == bindparam("month"),
    )
    .order_by(data_keys.c.created_at.desc(), data_keys.c.id.desc())
    .limit(1)
)
_ADD = Statement(
    insert_into(data_keys, "id", "vendor_id", "month", "master_id", "wrapped", "created_at")
)
