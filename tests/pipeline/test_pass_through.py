"""Files of claims through the channel to the payers: nothing is lost, and nothing changes but what must.

`make thorough` sends 500 files made from the guides, and has other X12 libraries check all that goes out.
`CLEARLANE_TEST_FILES_DATABASE=postgresql` has it on the other database.
"""

import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from msgspec import structs
from pydantic import ValidationError
from x12sdk.io import X12ModelReader

from clearlane.claims.forms.x12_loops import TRANSACTIONS
from clearlane.claims.rule_settings import RuleSetting, RuleSettings
from clearlane.claims.rules import RULES
from clearlane.payers.directory import PayerDirectory
from clearlane.pipeline.outbound import dispatch
from clearlane.store.files import file_sets
from clearlane.x12.checker.check import check
from clearlane.x12.guides import by_kind
from clearlane.x12.reader.reader import parse
from tests.cases import IS_THOROUGH, by_profile
from tests.claims.institutional_claims import BILLS, file_of
from tests.claims.outgoing import refusals
from tests.claims.pass_through import (
    Comparison,
    RawClaim,
    RawSet,
    compare,
    decoded,
    name_of,
    raw_sets,
    value,
    wrong_levels,
)
from tests.corpus import samples
from tests.pipeline.flowing import Flow, invented_payer
from tests.pipeline.test_process_file import Channel, claims_file, segments
from tests.x12 import samples837
from tests.x12.guide_coverage import collect, elements_of, places_of
from tests.x12.guide_files import FULL_FILES, KINDS, guide_file
from tests.x12.samples837 import Maker

FILES = by_profile(thorough=500, usual=FULL_FILES + 6, quick=FULL_FILES)
DATABASE = os.environ.get("CLEARLANE_TEST_FILES_DATABASE", "sqlite")
ELEMENTS_OCCUR_IN = 100
"""In so many files every element and component occurs that the guides use."""
FILES_AT_ONCE = 50
INSTITUTIONAL_FILES = by_profile(thorough=100, usual=4, quick=2)
INSTITUTIONAL_PAYERS = ("MM001", "HH002")
ROWS_AT_ONCE = 500
NOW = datetime(2025, 3, 10, 12, 0, tzinfo=UTC)
PAYER_TYPES = {"837P": "Medical", "837D": "Dental", "837I": "Medical"}
# The last of each is an alias, which the directory maps to the first.
PAYERS = {"837P": ("MM001", "HH002", "MEADOW9"), "837D": ("SD003", "HD004", "SUMMIT9")}
# Some public files have the same claim; they have invented NPIs, taxonomies, tax and telephone numbers, a box as the street, codes that have ended, and
# a service without a day: a site can have such claims sent.
INVENTED = ("C120", "C304", "C307", "C308", "C309", "C401", "C503", "C812")


class Passage:
    """Files of a site on their way to the payers."""

    def __init__(self, flow: Flow, payers: Mapping[str, tuple[str, ...]]) -> None:
        """``payers`` are the ids of the payers of each kind; aliases follow after a ``|``."""
        listed = {
            (PAYER_TYPES[kind], id): structs.replace(
                invented_payer(id, PAYER_TYPES[kind]), aliases=tuple(aliases)
            )
            for kind, ids in payers.items()
            for id, *aliases in (one.split("|") for one in ids)
        }
        directory = PayerDirectory([*listed.values()], sandbox=False)
        access = replace(flow.context.payer_access, payers=lambda: directory)
        flow.context = replace(flow.context, payer_access=access)
        flow.clock.advance(NOW - flow.clock.now())
        self.channel = Channel(flow)
        self.came: dict[tuple[object, ...], tuple[RawSet, RawClaim]] = {}
        """The claims that were accepted and are on their way, by file, place of the set and place in the set."""
        self.comparison = Comparison()

    async def send(self, content: bytes, name: str):
        """Send a file and have it processed; it as it is then, and what came back."""
        file, answers = await self.channel.process(content, name)
        verdicts = {one[1] for one in segments(answers["999"], "IK5")}
        assert verdicts <= {"A", "E"}, (name, answers["999"])
        assert "277CA" in answers
        assert (file.state, file.not_accepted) == ("accepted", 0), (name, answers["277CA"])
        for own in raw_sets(content):
            for at, claim in enumerate(own.claims, 1):
                self.came[file.file_id, *own.place, at] = (own, claim)

    async def deliver(self) -> list[bytes]:
        """Deliver what waits, and compare it claim by claim with what came; the files that payers got."""
        flow = self.channel.flow
        while await dispatch.create_batches(flow.context, flow.clock.now(), everything=True):
            while await dispatch.deliver_due(flow.context, flow.clock.now()):
                pass
        sent = []
        for box in flow.connections.mailboxes.values():
            sent += box.sent.values()
            box.sent.clear()
        await self._compare(sent)
        assert self.came == {}, "every claim went out"
        assert self.comparison.unnamed == []
        return sent

    async def _compare(self, sent: list[bytes]) -> None:
        went = {}
        for content in sent:
            assert not check(content).errors
            for own in raw_sets(content):
                assert wrong_levels(own) == []
                assert len({payer_id(claim) for claim in own.claims}) == 1
                assert not went.keys() & {claim.trace for claim in own.claims}
                went |= {claim.trace: (own, claim) for claim in own.claims}
        flow = self.channel.flow
        async with flow.database.read(flow.site.scope) as tx:
            found = await find_all(tx, file_sets.find_claims, went)
            sets = {one.set_id for one in found.values()}
            places = await find_all(tx, file_sets.find_sets, sets)
        for number, (own, claim) in went.items():
            of, position = places[found[number].set_id], found[number].position
            key = (of.file_id, of.interchange, of.group_number, of.position, position)
            before, earlier = self.came.pop(key)
            assert own.facts == before.facts
            assert claim.account == earlier.account
            compare(earlier, claim, self.comparison)


async def find_all(tx, find, wanted):
    """Find rows by their ids, as many at once as a statement takes."""
    ids, found = list(wanted), {}
    for at in range(0, len(ids), ROWS_AT_ONCE):
        found |= await find(tx, ids[at : at + ROWS_AT_ONCE])
    return found


def payer_id(claim: RawClaim) -> str:
    """Return the payer's id of a claim (2010BB NM109)."""
    return next(value(one, 9) for one in claim.levels[1] if name_of(one) == "NM1:PR")


def pyx12_complaints(content: bytes, caplog) -> set[str]:
    """Return what pyx12 says against a file of professional claims."""
    return bare(refusals(decoded(content).encode(), caplog))


def x12sdk_complaints(content: bytes, _caplog=None) -> set[str]:
    """Return what x12sdk says against a file of professional claims."""
    try:
        with X12ModelReader(decoded(content)) as reader:
            sets = len([*reader.models()])
    except ValidationError as fault:
        return {
            f"{[part for part in one['loc'] if isinstance(part, str)]} {one['type']}"
            for one in fault.errors()
        }
    except Exception as fault:  # whatever it raises says that it takes the file for wrong
        return bare([repr(fault)])
    return set() if sets == len(raw_sets(content)) else {"not every set"}


def bare(complaints) -> set[str]:
    """Return complaints without their places and values: the same about another claim is the same."""
    return {re.sub(r"\d+|\(.*?\)|'.*?'", "#", one) for one in complaints}


WITNESSES = (pyx12_complaints, x12sdk_complaints)


def complaints(content: bytes, caplog) -> tuple[set[str], ...]:
    """Return what each witness says against a file; they know no dental claims."""
    is_dental = by_kind("837D").id.encode() in content
    return tuple(set() if is_dental else witness(content, caplog) for witness in WITNESSES)


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


@pytest.fixture
async def one_flow(new_place, clock):
    place = await new_place(DATABASE)
    database = await place.open(clock)
    yield await Flow.open(place, database, clock)
    await database.close()


def test_every_loop_and_segment_of_the_guides_occurs_in_the_files_made_from_them():
    shown = {kind: set() for kind in KINDS}
    for number in range(FILES):
        made = guide_file(number, PAYERS)
        for read in parse(made.content, check=False).sets():
            collect(read.root, shown[made.kind], elements=True)
    for kind in KINDS:
        guide = by_kind(kind).root
        assert set(places_of(guide)) - shown[kind] == set()
        assert FILES < ELEMENTS_OCCUR_IN or set(elements_of(guide)) - shown[kind] == set()


@pytest.mark.parametrize("first", range(0, FILES, FILES_AT_ONCE))
async def test_files_made_from_the_guides_go_out_as_they_came(one_flow, caplog, first):
    passage = Passage(one_flow, {kind: (f"{a}|{c}", b) for kind, (a, b, c) in PAYERS.items()})
    last = min(first + FILES_AT_ONCE, FILES)
    files = [guide_file(number, PAYERS) for number in range(first, last)]
    for made in files:
        assert not check(made.content).errors, (made.name, check(made.content).findings)
    # The witnesses refuse some of what the guides allow: what one says of files before, it may say of them after.
    before = {one.name: complaints(one.content, caplog) if IS_THOROUGH else () for one in files}
    groups = {}
    for made in files:
        groups.setdefault(tuple(map(bool, before[made.name])), []).append(made)
    for own in groups.values():
        for made in own:
            await passage.send(made.content, made.name)
        sent = await passage.deliver()
        if IS_THOROUGH:
            came, went = (
                [set().union(*said) for said in zip(*every, strict=True)]
                for every in (
                    [before[made.name] for made in own],
                    [complaints(content, caplog) for content in sent],
                )
            )
            assert went[0] <= came[0], "pyx12 says nothing new"
            # x12sdk ends at the first thing that it cannot read, so it says new things of what it read before.
            assert not went[1] or came[1]
            kinds = Counter(made.kind for made in own)
            print(
                f"RESULT {kinds}, {len(sent)} sent; before {[*map(len, came)]} after {[*map(len, went)]}"
            )
            print("SAID", *went, sep="\n")
    if IS_THOROUGH:
        print("RESULT", passage.comparison)


async def test_public_files_go_out_as_they_came(flow, caplog):
    """Those that our checker finds clean, to payers that are in the directory."""
    wanted = {
        one: content
        for one in samples()
        if one.kind in TRANSACTIONS and not check(content := one.path.read_bytes()).errors
    }
    payers = {kind: {} for kind in TRANSACTIONS}
    for one, content in wanted.items():
        claims = [claim for own in raw_sets(content) for claim in own.claims]
        payers[one.kind] |= dict.fromkeys(map(payer_id, claims))
    passage = Passage(flow, {kind: tuple(ids) for kind, ids in payers.items()})
    settings = [RuleSetting(rule=rule, severity="warning", reason="invented") for rule in INVENTED]
    passage.channel.flow.context = replace(
        passage.channel.flow.context, rule_settings=lambda: RuleSettings(settings)
    )
    for one, content in wanted.items():
        await passage.send(content, one.path.name)
    await passage.deliver()


async def test_institutional_files_go_out_as_they_came(one_flow, caplog):
    """Bills of every type as the witnesses take them, and files filled nearly to the last element of the guide."""
    passage = Passage(one_flow, {"837I": ("HHP20", *INSTITUTIONAL_PAYERS)})
    one_flow.clock.advance(timedelta(days=401))
    every = [bill.but(number=f"RH-{at}") for at, bill in enumerate(BILLS.values())]
    content = file_of(*every).encode()
    await passage.send(content, "bills.837")
    sent = await passage.deliver()
    assert sum(len(own.claims) for one in sent for own in raw_sets(one)) == len(BILLS)
    assert {own.version for one in sent for own in raw_sets(one)} == {by_kind("837I").id}
    assert [pyx12_complaints(one, caplog) for one in sent] == [set()] * len(sent)
    # Files made from the guide alone have no sense as bills.
    lowered = [
        RuleSetting(rule=id, severity="warning", reason="made")
        for id, rule in RULES.items()
        if (id.startswith("I") or id == "C505") and not rule.fixed
    ]
    context = passage.channel.flow.context
    passage.channel.flow.context = replace(context, rule_settings=lambda: RuleSettings(lowered))
    for number in range(INSTITUTIONAL_FILES):
        rows = Maker(
            Random(number), "837I", number + 1, 0.9, everything=True, payers=INSTITUTIONAL_PAYERS
        ).claims(2, 1)
        text = samples837.interchange("837I", [rows])
        await passage.send(text.encode(), f"{number}.837")
    await passage.deliver()


async def test_claims_of_files_and_of_json_share_a_batch(one_flow, caplog):
    channel = Channel(one_flow)
    # A test would go out in a file of its own.
    await channel.process(claims_file(2).replace(b"*T*:", b"*P*:"))
    numbers = await one_flow.submit(2)
    sent = await one_flow.send()
    (own,) = raw_sets(sent)
    assert len(own.claims) == 4
    assert {one.trace for one in own.claims} > set(numbers)
    assert wrong_levels(own) == []
    assert not check(sent).errors
    assert complaints(sent, caplog) == (set(), set())
