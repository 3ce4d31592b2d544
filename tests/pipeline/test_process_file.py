"""What becomes of a file of a site: TA1, 999 and 277CA, claims accepted and not, or a report in words; never a half.

Also tests `pipeline/intake/files/file_reading`, `pipeline/intake/files/acknowledge_file`,
`pipeline/intake/files/release_claims`, `pipeline/intake/files/file_work` and `pipeline/intake/files/control_block`.
"""

import gzip
import math
import random
import re
import zipfile
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from types import SimpleNamespace

import pytest
from sqlalchemy import func, select

from clearlane.kernel.client_file import FileChannel
from clearlane.kernel.durations import Durations
from clearlane.kernel.ids import random_text
from clearlane.payers.directory import PayerDirectory
from clearlane.pipeline.intake.files import file_reading, process_file, release_claims
from clearlane.pipeline.intake.files.upload import Upload
from clearlane.pipeline.intake.purge_not_accepted import purge_old_claims
from clearlane.pipeline.query import file_claim_list
from clearlane.store.claims.claims import NOT_ACCEPTED, RECEIVED
from clearlane.store.database.group_commit import DatabaseUnavailable, StoreWaits
from clearlane.store.database.schema import claims, staged_claims
from clearlane.store.database.sql import Statement
from clearlane.store.files import client_files, file_parts, file_sets, payees
from clearlane.store.files.client_file_query import ClientFileQuery, find_page
from clearlane.store.vault.vault import InvalidSeal
from clearlane.x12.checker.check import check
from clearlane.x12.reader.reader import parse
from tests.cases import IS_THOROUGH, by_profile
from tests.corpus import OWN, samples
from tests.pipeline.flowing import ACTOR, EVERYONE, PAYER, Flow, invented_payer
from tests.waiting_files import process_waiting
from tests.x12.guide_files import FULL_FILES, guide_file

pytestmark = pytest.mark.one_database

CLAIMS = Statement(
    select(claims.c.claim_number, claims.c.state, claims.c.form, claims.c.queued).order_by(
        claims.c.claim_number
    ),
    system=True,
)
STAGED = Statement(select(func.count()).select_from(staged_claims), system=True)

DAMAGED_BYTES_MAX = 6_000
DENTAL_PAYER = "SD003"
MADE_FOR = {"837P": (PAYER,), "837D": (DENTAL_PAYER,)}
MADE_ON = datetime(2025, 3, 10, tzinfo=UTC)
DAMAGED_FILES = by_profile(thorough=1_000, usual=30, quick=10)

HEAD = (
    "ISA*00*          *00*          *ZZ*FERNHILL       *ZZ*CLEARLANE      *240305*0915*^*00501*{isa}*{ta1}*T*:~"
    "GS*HC*FERNHILL*CLEARLANE*20240305*0915*{gs}*X*005010X222A1~"
)
SET = (
    "ST*837*{st}*005010X222A1~BHT*0019*00*FB{st}*20240305*0915*CH~"
    "NM1*41*2*FERNHILL FAMILY PRACTICE*****46*FERNHILL~PER*IC*BILLING OFFICE*TE*5035550142~"
    "NM1*40*2*CLEARLANE*****46*CLEARLANE~HL*1**20*1~PRV*BI*PXC*207Q00000X~"
    "NM1*85*2*FERNHILL FAMILY PRACTICE*****XX*1234567893~N3*12 ELM STREET~N4*PORTLAND*OR*972011234~"
    "REF*EI*123456789~"
)
CLAIM = (
    "HL*{hl}*1*22*0~SBR*P*18*G1001******CI~NM1*IL*1*ARDEN*ROSA*Q***MI*M1002003{at}~N3*44 BIRCH ROAD~"
    "N4*PORTLAND*OR*972021234~DMG*D8*19800229*F~NM1*PR*2*MEADOW MUTUAL*****PI*{payer}~"
    "CLM*{account}*150***11:B:1*Y*A*Y*Y~REF*D9*SENDER{at}~HI*{diagnosis}~NM1*82*1*FENN*OSKAR****XX*1679576722~"
    "PRV*PE*PXC*207Q00000X~LX*1~SV1*HC:99213*150*UN*1***1~DTP*472*D8*20240211~REF*6R*{account}-1~"
)


def a_claim(at, **own):
    given = {"payer": PAYER, "account": f"A-{at}", "diagnosis": "ABK:J0190", "hl": at + 1}
    return CLAIM.format(at=at, **given | own)


def a_set(*bodies, st="0001"):
    text = SET.format(st=st) + "".join(bodies)
    return f"{text}SE*{text.count('~') + 1}*{st}~"


def a_file(*sets, isa="000000101", ta1="0", gs="101"):
    text = HEAD.format(isa=isa, ta1=ta1, gs=gs) + "".join(sets)
    return (text + f"GE*{len(sets)}*{gs}~IEA*1*{isa}~").encode()


def claims_file(count=1, **own):
    return a_file(a_set(*(a_claim(at) for at in range(1, count + 1))), **own)


class Channel:
    """A site that sends files, and a node that processes them."""

    def __init__(self, flow):
        self.flow = flow
        flow.context = replace(flow.context, accounts=lambda: SimpleNamespace(sites=[flow.site]))

    async def send(self, content, name="claims.837", *, shadow=False):
        upload = await Upload.begin(
            self.flow.context, self.flow.site, name=name, channel=FileChannel.HTTPS, actor=ACTOR,
            is_shadow=shadow,
        )  # fmt: skip
        await upload.write(content)
        return (await upload.finish(name)).file_id

    async def process(self, content, name="claims.837", *, shadow=False, quotes_damage=False):
        """Send and process a file; it as it is then, and the files that came back, by type."""
        file_id = await self.send(content, name, shadow=shadow)
        assert await process_waiting(self.flow.context) == 1
        return await self.find(file_id), await self.answers(file_id, quotes_damage=quotes_damage)

    async def find(self, file_id):
        async with self.flow.database.read(self.flow.site.scope) as tx:
            return await client_files.find(tx, file_id)

    async def answers(self, file_id, *, quotes_damage=False):
        """The files that came back; sound ones, unless they quote a damaged envelope."""
        async with self.flow.database.read(self.flow.site.scope) as tx:
            found = await client_files.list_responses(tx, file_id)
        answers = {
            one.type: await file_parts.read_content(
                self.flow.database, self.flow.vault, self.flow.site.scope, one.file_id
            )
            for one in found
        }
        assert len(answers) == len(found), "one of each type"
        for type, content in answers.items():
            if type != "text":
                result = check(content)
                assert result.readable
                assert quotes_damage or not result.errors, (type, result.findings)
        return answers

    async def listed(self, **where):
        async with self.flow.database.read(self.flow.site.scope) as tx:
            return await find_page(tx, ClientFileQuery(where=where, limit=100))

    async def claims(self):
        async with self.flow.database.read(EVERYONE) as tx:
            return await tx.rows(CLAIMS)

    async def staged(self):
        async with self.flow.database.read(EVERYONE) as tx:
            return (await tx.rows(STAGED))[0][0]


@pytest.fixture
async def channel(place, database, clock):
    return Channel(await Flow.open(place, database, clock))


def segments(content, id):
    """Return the segments of an id in an acknowledgement."""
    found = []
    for interchange in parse(content).interchanges:
        found += [one for _, one in interchange.stray if one[0] == id]
    found += [one for set in parse(content).sets() for one in set.all_segments() if one[0] == id]
    return found


@pytest.mark.both_databases
async def test_a_clean_file_is_accepted_and_its_claims_wait_to_be_sent(channel):
    file, answers = await channel.process(claims_file(3))
    assert (file.state, file.type, file.claims, file.accepted) == ("accepted", "837P", 3, 3), (
        answers
    )
    assert answers.keys() == {"999", "277CA"}
    assert segments(answers["999"], "AK1") == [["AK1", "HC", "101", "005010X222A1"]]
    assert segments(answers["999"], "IK5") == [["IK5", "A"]]
    rows = await channel.claims()
    assert [row[1:] for row in rows] == [(RECEIVED, "x12", 1)] * 3
    assert await channel.staged() == 0
    async with channel.flow.database.read(channel.flow.site.scope) as tx:
        (one,) = await file_sets.list_sets(tx, file.file_id)
        found = await file_sets.list_claims(tx, one.set_id, after=0, limit=9)
    assert (one.state, one.claims, one.released) == ("accepted", 3, 1)
    assert {each.claim_number for each in found} == {row[0] for row in rows}
    assert [each.position for each in found] == [1, 2, 3]
    # Remittances to its billing provider are files of the site.
    hashed = {payees.payee_hash(channel.flow.vault, "1234567893")}
    async with channel.flow.database.read(payees.SCOPE) as tx:
        (payee,) = await payees.find_sites(tx, hashed)
    assert payee.site_id == channel.flow.site.id


async def test_a_claim_with_an_error_of_its_own_is_not_accepted_and_the_others_are(channel):
    bad = a_claim(2, diagnosis="ABK:NOSUCH1")
    unknown = a_claim(3, payer="NOPAYER")
    file, answers = await channel.process(a_file(a_set(a_claim(1), bad, unknown)))
    assert (file.state, file.claims, file.accepted, file.not_accepted) == (
        "partly_accepted", 3, 1, 2,
    ), answers  # fmt: skip
    assert {row[1] for row in await channel.claims()} == {RECEIVED, NOT_ACCEPTED}
    statuses = [one[1].split(":")[0] for one in segments(answers["277CA"], "STC")]
    assert "A2" not in statuses
    assert segments(answers["999"], "IK5")[0][1] in {"A", "E"}


async def test_a_277ca_reports_at_the_claim_what_concerns_it_and_names_the_element(channel):
    await channel.process(claims_file())
    faults = {
        "A3:54": a_claim(1),
        "A8:178": a_claim(2).replace("*A-2*150", "*A-2*151"),
        "A7:255": a_claim(3, diagnosis="ABK:NOSUCH1"),
        "A7:157:IL": a_claim(4).replace("19800229*F", "19800229*Q"),
        "A7:249": a_claim(5).replace("11:B:1", "11:X:1"),
        "A7:247": a_claim(6).replace("*UN*1*", "*UN*one*"),
    }
    file, answers = await channel.process(a_file(a_set(*faults.values()), isa="000000102"))
    assert file.not_accepted == len(faults)
    statuses = [one[1] for one in segments(answers["277CA"], "STC")]
    # The first two are those of the batch and the provider; only the last claim's reason is one of its line.
    assert statuses[2:] == [*faults, "A7:476"]
    assert len(segments(answers["277CA"], "SVC")) == 1


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8"])
async def test_a_name_in_either_encoding_comes_back_in_plain_letters_and_signs(channel, encoding):
    content = claims_file().decode().replace("*ARDEN*", "*mu\u00f1oz\u2013o\u2019dell*")
    content = content.encode(encoding)
    file, answers = await channel.process(content)
    assert (file.state, file.accepted) == ("accepted", 1)
    names = {one[3] for one in segments(answers["277CA"], "NM1") if one[1] == "QC"}
    assert names == {"MUNOZ-O'DELL"}
    refused = claims_file(isa="000000102").decode().replace("*ARDEN*", "*ARDEN\u20ac*")
    file, answers = await channel.process(refused.encode(encoding))
    assert (file.state, file.accepted) == ("rejected", 0)
    old = claims_file(2).replace(b"005010X222A1", b"004010X098A1")
    assert (await channel.process(old))[0].not_accepted == 2


async def test_a_set_with_a_wrong_structure_is_rejected_whole_and_the_other_is_accepted(channel):
    broken = a_set(a_claim(1), "ZZZ*1~", a_claim(2), st="0001")
    fine = a_set(a_claim(3, hl=2), st="0002")
    file, answers = await channel.process(a_file(broken, fine))
    assert (file.state, file.claims, file.accepted, file.not_accepted) == (
        "partly_accepted", 3, 1, 2,
    )  # fmt: skip
    assert [one[1] for one in segments(answers["999"], "IK5")] == ["R", "A"]
    assert segments(answers["999"], "AK9")[0][1] == "P"
    assert len(await channel.claims()) == 1
    assert await channel.staged() == 0
    async with channel.flow.database.read(channel.flow.site.scope) as tx:
        sets = await file_sets.list_sets(tx, file.file_id)
    assert [one.state for one in sets] == ["rejected", "accepted"]
    assert "ZZZ" in sets[0].reason or "(segment " in sets[0].reason
    assert sets[1].reason == ""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b"SE*28*0001", b"SE*29*0001", "SE01 must be"),
        (b"GE*1*101", b"GE*2*101", "GE01 must be"),
        (b"GE*1*101", b"GE*1*102", "GE02 must"),
        (b"005010X222A1", b"004010X098A1", "Version 004010 is not taken"),
        (b"*ST*837", b"*ST*837", "GS01 must be HP"),
    ],
)
async def test_wrong_counts_and_versions_get_a_999_and_nothing_is_accepted(
    channel, old, new, words
):
    content = claims_file().replace(old, new)
    if old == new:
        content = content.replace(b"ST*837*0001*", b"ST*835*0001*")
    file, answers = await channel.process(content)
    assert (file.state, file.accepted) == ("rejected", 0)
    assert segments(answers["999"], "AK9")[0][1] == "R"
    async with channel.flow.database.read(channel.flow.site.scope) as tx:
        (one,) = await file_sets.list_sets(tx, file.file_id)
    assert (one.state, words in one.reason) == ("rejected", True), one.reason
    assert answers.keys() == {"999"}
    assert await channel.claims() == []
    assert await channel.staged() == 0


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b"IEA*1*000000101", b"IEA*2*000000101", "IEA01 must be 1"),
        (b"IEA*1*000000101~", b"", "The file is cut"),
        (b"*00501*", b"*00401*", "ISA12"),
        (b"*00501*", b"*00602*", "ISA12"),
        (b"IEA*1*", b"ISA*1*", "The file is cut"),
    ],
)
async def test_a_wrong_envelope_gets_a_ta1_and_nothing_is_accepted(channel, old, new, words):
    file, answers = await channel.process(claims_file(2).replace(old, new))
    assert (file.state, file.accepted) == ("rejected", 0)
    assert segments(answers["TA1"], "TA1")[0][1] == "000000101"
    assert segments(answers["TA1"], "TA1")[0][4] == "R"
    assert words in file.note
    assert "999" not in answers
    assert await channel.claims() == []


async def test_claims_of_a_set_without_its_levels_are_counted(channel):
    whole = a_set(a_claim(1), a_claim(2), st="0002")
    at, end = whole.index("HL*1**"), whole.index("HL*2*")
    file, _ = await channel.process(a_file(a_set(a_claim(3, hl=2)), whole[:at] + whole[end:]))
    assert (file.state, file.claims, file.accepted, file.not_accepted) == (
        "partly_accepted", 3, 1, 2,
    )  # fmt: skip


async def test_a_ta1_is_written_if_it_is_asked_for(channel):
    file, answers = await channel.process(claims_file(ta1="1"))
    assert file.state == "accepted"
    assert answers.keys() == {"TA1", "999", "277CA"}
    assert segments(answers["TA1"], "TA1")[0][4:] == ["A", "000"]


def zipped():
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("claims.837", claims_file())
    return packed.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"   \r\n", "No X12 interchange"),
        (b"hello", "No X12 interchange"),
        (bytes(range(256)) * 40, "No X12 interchange"),
        (zipped(), "ZIP archive"),
        (b"%PDF-1.7 ...", "PDF"),
        (b'{"DocumentType": "medical"}', "JSON"),
        (b"\xef\xbb\xbf<html>", "XML or HTML"),
        (b"\xef\xbb\xbf\r\nISA*00*", "ends inside its ISA"),
        (claims_file().replace(b"ISA*", b"ISA "), "fixed widths"),
        (claims_file().decode().encode("utf-16"), "UTF-16"),
        (claims_file().decode().encode("utf-16-be"), "UTF-16"),
    ],
)
async def test_what_is_not_x12_gets_a_report_in_words(channel, content, words):
    file, answers = await channel.process(content, "photo.bin")
    assert (file.state, file.claims) == ("unreadable", 0)
    assert answers.keys() == {"text"}
    assert words in answers["text"].decode()
    assert "photo.bin" in answers["text"].decode()


async def test_junk_around_an_interchange_is_reported_and_the_interchange_is_accepted(channel):
    file, answers = await channel.process(claims_file() + b"some junk after it")
    assert file.accepted == 1
    assert answers.keys() >= {"999", "text"}


async def test_other_transactions_are_rejected_and_acknowledgements_are_not_acknowledged(channel):
    content = next((OWN / "835").glob("*.x12")).read_bytes()
    file, answers = await channel.process(content)
    assert (file.state, file.type, file.accepted) == ("rejected", "835", 0)
    assert "1" in segments(answers["999"], "IK5")[0][2:]
    for kind in ("999", "TA1"):
        content = next((OWN / kind).glob("*.x12")).read_bytes()
        file, answers = await channel.process(content)
        assert (file.state, file.type, answers) == ("accepted", kind, {})
    assert await channel.claims() == []


async def test_acknowledgements_with_errors_are_reported_in_words_and_never_acknowledged(channel):
    own = {kind: next((OWN / kind).glob("*.x12")).read_bytes() for kind in ("999", "TA1")}
    faulty = {
        "a set": own["999"].replace(b"AK9*", b"AK9*Q"),
        "a group": own["999"].replace(b"GE*1", b"GE*7"),
        "an interchange": own["999"].replace(b"IEA*1", b"IEA*7"),
        "a TA1": own["TA1"].replace(b"IEA*0", b"IEA*7"),
        "a TA1 that asks": own["TA1"].replace(b"IEA*0", b"IEA*8").replace(b"*0*T*", b"*1*T*"),
    }
    for name, content in faulty.items():
        file, answers = await channel.process(content)
        assert (file.state, [*answers]) == ("rejected", ["text"]), name
        assert "(segment " in answers["text"].decode(), name
        assert "not acknowledged" in file.note
    for sample in samples():
        if sample.kind in own:
            file, answers = await channel.process(sample.path.read_bytes(), sample.path.name)
            words = {"accepted": [], "rejected": ["text"]}[file.state]
            assert [*answers] == words, sample
    # An interchange with nothing in it is no acknowledgement.
    nothing = own["TA1"][: own["TA1"].index(b"TA1*")] + own["TA1"][own["TA1"].index(b"IEA*") :]
    _, answers = await channel.process(nothing)
    assert "TA1" in answers


@pytest.mark.both_databases
async def test_the_same_bytes_again_lead_to_the_same_acknowledgements_and_nothing_else(channel):
    first, answers = await channel.process(claims_file(2, ta1="1"))
    again, repeated = await channel.process(claims_file(2, ta1="1"), "other name.837")
    assert repeated == answers
    assert again[6] == first[6]
    assert first.file_id in again.note
    assert (again.claims, again.accepted) == (2, 2)
    assert len(await channel.claims()) == 2
    assert len(await channel.listed(direction="out")) == 6


@pytest.mark.both_databases
async def test_a_control_number_that_was_used_is_noted_and_the_file_accepted(channel):
    await channel.process(claims_file())
    file, _ = await channel.process(a_file(a_set(a_claim(5, hl=2))))
    assert (file.state, file.note) == ("accepted", process_file.CONTROL_USED)


@pytest.mark.both_databases
async def test_a_claim_that_was_sent_before_is_not_accepted_again(channel):
    await channel.process(claims_file(2))
    file, _ = await channel.process(a_file(a_set(a_claim(1), a_claim(7, hl=3)), isa="000000102"))
    assert (file.state, file.accepted, file.not_accepted) == ("partly_accepted", 1, 1)


@pytest.mark.both_databases
async def test_pages_are_staged_and_released(channel, monkeypatch):
    monkeypatch.setattr(file_reading, "CLAIMS_PER_PAGE", 2)
    monkeypatch.setattr(release_claims, "CLAIMS_RELEASED_AT_ONCE", 3)
    file, answers = await channel.process(claims_file(7))
    assert (file.claims, file.accepted) == (7, 7)
    assert len(segments(answers["277CA"], "STC")) >= 7
    assert len(await channel.claims()) == 7
    assert await channel.staged() == 0


@pytest.mark.parametrize(
    ("has_callers", "seconds_alone", "size"),
    [
        (True, math.inf, release_claims.CLAIMS_RELEASED_AT_ONCE),
        (False, math.inf, release_claims.CLAIMS_RELEASED_ALONE),
        (False, 0.5, release_claims.CLAIMS_RELEASED_BESIDE_OTHERS),
    ],
)
def test_a_page_to_be_released_is_small_if_other_processes_write(has_callers, seconds_alone, size):
    waits = StoreWaits(0, 0.0, Durations(), Durations(), seconds_alone)
    assert release_claims.page_size(waits, has_callers=has_callers) == size


class Died(BaseException):
    """What a kill does to the work of a process."""


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "point", ["file staged", "file answered", "file accepted", "file released"]
)
async def test_work_that_dies_is_repeated_and_everything_is_written_once(
    channel, monkeypatch, point
):
    monkeypatch.setattr(file_reading, "CLAIMS_PER_PAGE", 2)
    monkeypatch.setattr(release_claims, "CLAIMS_RELEASED_AT_ONCE", 2)

    def die(name):
        if name == point:
            raise Died

    file_id = await channel.send(claims_file(5, ta1="1"))
    with monkeypatch.context() as patched:
        patched.setattr("clearlane.engine.fault_injection.crash_point", die)
        with pytest.raises(Died):
            await process_waiting(channel.flow.context)
    before = len(await channel.claims())
    assert before == {"file released": 2}.get(point, 0)
    # The lease of the work that died ends, and what it left is done by other work.
    assert await process_waiting(channel.flow.context) == 0
    channel.flow.clock.advance(timedelta(seconds=61))
    is_accepted = point in ("file accepted", "file released")
    assert await process_waiting(channel.flow.context) == (0 if is_accepted else 1)
    assert await release_claims.release_accepted(channel.flow.context) == int(is_accepted)
    assert (await channel.find(file_id)).state == "accepted"
    assert (await channel.answers(file_id)).keys() == {"TA1", "999", "277CA"}
    assert len(await channel.listed(direction="out")) == 3
    assert len(await channel.claims()) == 5
    assert await channel.staged() == 0


@pytest.mark.both_databases
@pytest.mark.parametrize("holder", ["second", "first"])
async def test_work_that_lost_its_lease_stores_nothing(channel, monkeypatch, holder):
    """Also to the same work on another node, which takes over from one that seems dead."""
    file_id = await channel.send(claims_file())
    context, site = channel.flow.context, channel.flow.site
    judge = file_reading.judge_page
    holders = iter([holder])

    async def judge_late(*arguments, **named):
        if holder := next(holders, None):
            channel.flow.clock.advance(timedelta(seconds=61))
            assert await process_file.process_file(context, site, file_id, holder) == "accepted"
        return await judge(*arguments, **named)

    monkeypatch.setattr(file_reading, "judge_page", judge_late)
    assert await process_file.process_file(context, site, file_id, "first") is None
    assert len(await channel.claims()) == 1
    assert await channel.staged() == 0


async def test_claims_of_an_accepted_file_stay_if_they_cannot_be_released(channel, monkeypatch):
    async def fail(*arguments):
        raise ValueError("ARDEN")

    with monkeypatch.context() as patched:
        patched.setattr(process_file, "release_set", fail)
        file_id = await channel.send(claims_file(3))
        await process_waiting(channel.flow.context)
    assert ((await channel.find(file_id)).state, await channel.staged()) == ("accepted", 3)
    assert await release_claims.release_accepted(channel.flow.context) == 1
    assert (len(await channel.claims()), await channel.staged()) == (3, 0)


async def test_a_set_that_cannot_be_released_keeps_no_other_back(channel, monkeypatch):
    context, release = channel.flow.context, release_claims.release_set
    with monkeypatch.context() as patched:
        patched.setattr(process_file, "release_set", _failing(ValueError("ARDEN")))
        await channel.send(a_file(a_set(a_claim(1)), a_set(a_claim(2, hl=2), st="0002")))
        await process_waiting(context)
    assert await channel.staged() == 2
    async with channel.flow.database.read(channel.flow.site.scope) as tx:
        [stuck, _] = await file_sets.list_unreleased_of_site(tx)

    async def release_others(context, site, set_id):
        if set_id == stuck:
            raise InvalidSeal("claims: not the one")
        await release(context, site, set_id)

    monkeypatch.setattr(release_claims, "release_set", release_others)
    await release_claims.release_accepted(context)
    assert (len(await channel.claims()), await channel.staged()) == (1, 1)
    monkeypatch.setattr(release_claims, "release_set", _failing(DatabaseUnavailable("down")))
    with pytest.raises(DatabaseUnavailable):
        await release_claims.release_accepted(context)


def _failing(fault):
    async def fail(*arguments):
        raise fault

    return fail


@pytest.mark.both_databases
async def test_claims_of_a_file_are_listed_over_sets_that_have_none_with_few_queries(
    channel, monkeypatch
):
    flow = channel.flow
    wrong = {"diagnosis": "ABK:NOSUCH1"}
    some = a_set(a_claim(1), a_claim(2, **wrong))
    good = a_set(a_claim(3, hl=2), st="0002")
    bad = a_set(a_claim(4, hl=2, **wrong), a_claim(5, hl=3, **wrong), st="0003")
    file, _ = await channel.process(a_file(some, good, bad))
    async with flow.database.read(flow.site.scope) as tx:
        sets = await file_sets.list_sets(tx, file.file_id)
    rejected = [
        sets[1]._replace(set_id=f"T{at}", claims=1, not_accepted=1, state="rejected")
        for at in range(20)
    ]
    mixed = [*rejected, sets[0], *rejected, *sets[1:], *rejected]
    asked = []

    async def list_claims(tx, set_id, **named):
        asked.append(set_id)
        return await list_of_set(tx, set_id, **named)

    list_of_set = file_sets.list_claims
    monkeypatch.setattr(file_sets, "list_claims", list_claims)
    monkeypatch.setattr(file_claim_list, "SETS_AT_ONCE", 7)

    async def places(*, not_accepted):
        """The places of claims, on pages of two."""
        found, after = [], file_claim_list.FIRST_PLACE
        while after:
            page = await file_claim_list.load_file_claims(
                flow.context, flow.site, mixed, after=after, limit=2, not_accepted=not_accepted,
                actor=ACTOR, action="file.claims",
            )  # fmt: skip
            found += [(sets.index(one.of_set), one.position) for one in page.claims]
            after = page.last
        return found

    assert await places(not_accepted=True) == [(0, 2), (2, 1), (2, 2)]
    assert await places(not_accepted=False) == [(0, 1), (0, 2), (1, 1), (2, 1), (2, 2)]
    assert set(asked) == {one.set_id for one in sets}


async def test_a_file_that_fails_each_time_is_reported(channel, monkeypatch):
    async def fail(*arguments, **named):
        raise ValueError("ARDEN")

    monkeypatch.setattr(file_reading, "judge_page", fail)
    file, answers = await channel.process(claims_file())
    assert file.state == "unreadable"
    assert "Processing the file failed" in answers["text"].decode()
    assert "ARDEN" not in answers["text"].decode()
    assert await channel.staged() == 0


@pytest.mark.both_databases
async def test_a_file_that_was_begun_too_often_is_given_up(channel):
    file_id = await channel.send(claims_file())
    for _ in range(process_file.FILE_ATTEMPTS_MAX):
        await channel.flow.database.write(
            channel.flow.site.scope,
            lambda tx: client_files.take_lease(tx, file_id, random_text(5), now=9**18, until=1),
            actor=ACTOR,
        )
    await process_waiting(channel.flow.context)
    assert (await channel.find(file_id)).state == "unreadable"


async def test_too_many_sets_are_refused(channel, monkeypatch):
    monkeypatch.setattr(file_reading, "SETS_PER_FILE_MAX", 1)
    file, answers = await channel.process(a_file(a_set(a_claim(1)), a_set(a_claim(2), st="0002")))
    assert (file.state, answers.keys()) == ("unreadable", {"text"})
    assert await channel.claims() == []
    assert await channel.staged() == 0


async def test_a_file_that_is_cut_anywhere_is_never_half_accepted(channel):
    """At every boundary of a segment, and inside of one."""
    whole = claims_file(2)
    cuts = [at + more for at in range(len(whole)) if whole[at : at + 1] == b"~" for more in (1, 3)]
    for at in cuts[:-2][:: 1 if IS_THOROUGH else max(1, len(cuts) // 24)]:
        file, answers = await channel.process(whole[:at] + b"")
        assert file.state in {"rejected", "unreadable"}, at
        assert answers, at
        assert await channel.claims() == []
        assert await channel.staged() == 0


def damaged(dice, whole):
    """Return a file with one to three kinds of damage."""
    content = bytearray(whole)
    for _ in range(dice.randint(1, 3)):
        at, size = dice.randrange(len(content) or 1), dice.randint(1, 40)
        match dice.randrange(11):
            case 0:
                del content[at : at + size]
            case 1:
                content[at:at] = dice.randbytes(size)
            case 2:
                content[at : at + 1] = dice.randbytes(1)
            case 3:
                content[at:at] = whole[: len(whole) // 2]  # an envelope in an envelope
            case 4:
                end = whole[105:106]
                cut = bytes(content).split(end)
                place = dice.randrange(len(cut))
                content = bytearray(end.join([*cut[:place], *cut[place:][::-1]]))
            case 5:
                other = dice.choice([b"\n", b"|", b"~\r\n", b"*"])
                content = bytearray(bytes(content).replace(whole[105:106], other))
            case 6:
                wrong = rb"\g<1>%d" % dice.randint(0, 99)
                content = bytearray(re.sub(rb"((?:SE|GE|IEA)\W)\d+", wrong, content))
            case 7:
                other = dice.choice([b"004010", b"006020", b"005010X223A2"])
                content = bytearray(re.sub(rb"005010X22\dA\d|00501(?=\W)", other, content))
            case 8:
                content[dice.choice([3, 82, 104, 105]) : 106] = dice.randbytes(1)
            case 9:
                content = bytearray(gzip.compress(content) if dice.random() < 0.2 else content * 2)
            case _:
                del content[at:]
    return bytes(content)


async def test_damaged_files_are_all_answered_and_never_accepted_by_halves(channel):
    """Whatever the damage: a TA1, a 999 or a report, and of each set all claims or none."""
    dice = random.Random(27)
    whole = a_file(a_set(a_claim(1), a_claim(2)), a_set(a_claim(3, hl=2), st="0002"), ta1="1")
    made = [guide_file(FULL_FILES + number, MADE_FOR).content for number in range(20)]
    bases = [whole, *(one for one in made if len(one) < DAMAGED_BYTES_MAX)]
    flow = channel.flow
    payers = PayerDirectory(
        [invented_payer(PAYER), invented_payer(DENTAL_PAYER, "Dental")], sandbox=False
    )
    access = replace(flow.context.payer_access, payers=lambda: payers)
    flow.context = replace(flow.context, payer_access=access)
    flow.clock.advance(MADE_ON - flow.clock.now())
    came = Counter()
    for number in range(DAMAGED_FILES):
        # A claim that came before would not be accepted.
        base = re.sub(rb"(CLM\W)", rb"\g<1>%d" % number, dice.choice(bases))
        content = damaged(dice, base)
        file, answers = await channel.process(content, f"{number}.837", quotes_damage=True)
        assert answers, number
        assert file.state != "received"
        assert "Processing the file failed" not in answers.get("text", b"").decode(), number
        assert file.accepted + file.not_accepted == file.claims
        async with channel.flow.database.read(channel.flow.site.scope) as tx:
            sets = await file_sets.list_sets(tx, file.file_id)
            stored = {
                one.set_id: len(await file_sets.list_claims(tx, one.set_id, after=0, limit=999))
                for one in sets
            }
        for one in sets:
            assert stored[one.set_id] in ({0, one.claims} if one.reason else {one.claims}), number
        assert await channel.staged() == 0
        came[file.state, *sorted(answers)] += 1
    if IS_THOROUGH:
        print(DAMAGED_FILES, "damaged files", *came.most_common(), sep="\n")


@pytest.mark.both_databases
async def test_a_claim_that_is_kept_no_longer_goes_with_its_place_in_the_file(channel):
    await channel.process(a_file(a_set(a_claim(1, payer="NOPAYER"))))
    ((number, *_),) = await channel.claims()
    channel.flow.clock.advance(timedelta(days=91))
    assert await purge_old_claims(channel.flow.context, channel.flow.clock.now()) == 1
    async with channel.flow.database.read(channel.flow.site.scope) as tx:
        assert await file_sets.find_claims(tx, [number]) == {}
