"""A trial of a code list says which claims use codes that end and which refusals would go, and changes nothing.

Also tests `store/installation/code_trials` and `store/claims/claim_pages`.
"""

import json
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from types import SimpleNamespace

import pytest
from sqlalchemy import select, update

from clearlane.claims.rule_settings import RuleSetting, RuleSettings
from clearlane.code_files.columns import CodeRow
from clearlane.pipeline import schedule
from clearlane.pipeline.operator import try_codes
from clearlane.pipeline.operator.import_codes import NewEdition, import_codes
from clearlane.pipeline.operator.try_codes import start_trial, stated_codes, work_on_trials
from clearlane.store.database.database import Actor, OperationRefused
from clearlane.store.database.schema import audit, claims, code_trials, codes
from clearlane.store.database.sql import Statement
from clearlane.store.installation import code_trials as trials
from clearlane.store.installation.code_lists import list_editions, load_code_lists
from clearlane.x12.codes import dated_codes
from clearlane.x12.codes.dated_codes import DatedCodes
from tests.databases import START
from tests.pipeline.flowing import EVERYONE, PAYER, Flow

pytestmark = pytest.mark.one_database

OPERATOR = Actor("operator", "nora")
FIRST, LAST = date(2024, 1, 1), date(2024, 9, 30)
A_YEAR_AGO = (START - timedelta(days=365)).date()
# The usual claim has J02.9, which this edition lacks, and R05.9.
NEW_CODES = ("R059", "J0299", "E119")
CLAIMS = Statement(select(claims), system=True)
CODES = Statement(select(codes))
AUDITED = Statement(
    select(audit.c.actor, audit.c.action, audit.c.ids, audit.c.count, audit.c.detail)
    .where(audit.c.action.like("codes.tr%"))
    .order_by(audit.c.seq)
)
EXPIRE = Statement(update(code_trials).values(leased_until=0))
DIAGNOSES = "icd-10-cm"
KNOWN = ("J02", "R05", "E11")
"""How the diagnoses begin that the list of the package has here."""


@cache
def few_codes():
    known = dated_codes.load(DIAGNOSES)
    return DatedCodes(
        known.days, [(period, [code]) for code, period in known if code.startswith(KNOWN)]
    )


@pytest.fixture(autouse=True)
def few_diagnoses(monkeypatch):
    """Try editions over few codes, which takes no time; `cli/test_codes_command` tries one over all codes."""
    few, find = few_codes(), dated_codes.find
    monkeypatch.setattr(dated_codes, "find", lambda name: few if name == DIAGNOSES else find(name))


@pytest.fixture
async def flow(place, database, clock):
    flow = await Flow.open(place, database, clock)
    accounts = SimpleNamespace(sites=(flow.site,))
    flow.context = replace(flow.context, accounts=lambda: accounts)
    return flow


def edition(list="icd-10-cm", first=FIRST):
    return NewEdition(list=list, first_day=first, last_day=LAST, source="order.txt", hash="0" * 64)


async def begun(flow, codes=NEW_CODES, *, new=None, since=A_YEAR_AGO):
    rows = [code if isinstance(code, CodeRow) else CodeRow(code) for code in codes]
    return await start_trial(
        flow.context, new or edition(), rows, since=since, actor=OPERATOR, force=True
    )


async def all_rows(flow, statement):
    async with flow.database.read(EVERYONE) as tx:
        return await tx.rows(statement)


async def posted(flow):
    """The numbers of claims: one whose code ends, one that stays, one with a code that the edition brings."""
    sent = await flow.post(
        each=[
            {},
            {"F21_DiagnosisCodes": ["R05.9"]},
            {"F21_DiagnosisCodes": ["J02.99"]},
            {"F21_DiagnosisCodes": ["J02.99"], "F28_TotalCharge": "1.00"},
        ]
    )
    assert [one.accepted for one in sent] == [True, True, False, False]
    flow.clock.advance(timedelta(minutes=1))
    return [one.claim_number for one in sent]


async def finished(flow, trial):
    assert await work_on_trials(flow.context) == 1
    return await trials.find_trial(flow.database, trial.id)


@pytest.mark.both_databases
async def test_a_trial_counts_what_would_change_and_changes_nothing(flow, monkeypatch):
    ending, _, passing, still_wrong = await posted(flow)
    before = await all_rows(flow, CLAIMS)
    monkeypatch.setattr(try_codes, "CLAIMS_AT_ONCE", 2)
    trial = await begun(flow)
    assert (trial.state, trial.total, trial.read) == ("open", 4, 0)
    done = await finished(flow, trial)
    assert (done.state, done.read, done.ending, done.passing) == ("done", 4, 1, 2)
    assert json.loads(done.codes) == {"J029": 1}
    assert await trials.list_found(flow.database, trial.id, "ending") == [ending]
    found = await trials.list_found(flow.database, trial.id, "passing")
    assert found == sorted([passing, still_wrong])
    # Claims are as they were, the edition is gone, and the lists in force are those of before.
    assert await all_rows(flow, CLAIMS) == before
    assert await list_editions(flow.database) == []
    assert await all_rows(flow, CODES) == []
    assert (await load_code_lists(flow.database))["icd-10-cm"].is_valid("J029", FIRST, FIRST)
    assert await work_on_trials(flow.context) == 0
    begin, end = await all_rows(flow, AUDITED)
    assert begin[0].endswith("nora")
    assert (begin[1], end[1]) == ("codes.try", "codes.tried")
    assert "icd-10-cm" in begin[2]
    assert (begin[3], end[3]) == (4, 4)
    assert str(A_YEAR_AGO) in begin[4]
    assert "begun by nora" in end[4]


async def test_a_corrected_file_is_compared_with_what_is_in_force_on_its_days(flow):
    """Neither a code that began with the edition in force nor one that it begins too late was valid the day before.

    The trial is worked on by a command, which has the lists of the package only.
    """
    rows = [*map(CodeRow, NEW_CODES), CodeRow("J029"), CodeRow("J0298", date(2024, 6, 1))]
    await import_codes(flow.database, edition(), rows, actor=OPERATOR, force=True)
    in_command, lists = flow.context, await load_code_lists(flow.database)
    flow.context = replace(flow.context, code_lists=lambda: lists)
    codes = ("J02.99", "J02.98", "J02.9")
    sent = await flow.post(each=[{"F21_DiagnosisCodes": [code]} for code in codes])
    assert [one.accepted for one in sent] == [True, False, True]
    flow.clock.advance(timedelta(minutes=1))
    flow.context = in_command
    done = await finished(flow, await begun(flow, ["R059", "E119", "J029", "J0298"]))
    assert (done.read, done.ending, done.passing) == (3, 1, 1)
    assert json.loads(done.codes) == {"J0299": 1}
    done = await finished(flow, await begun(flow, rows))
    assert (done.read, done.ending, done.passing) == (3, 0, 0), "the same file changes nothing"


async def test_codes_that_end_are_found_before_the_edition_begins_and_no_refusal_goes(flow):
    """The edition begins after every day of service: codes that end are found, and no refusal goes."""
    await posted(flow)
    trial = await begun(flow, new=edition(first=date(2024, 4, 1)))
    done = await finished(flow, trial)
    assert (done.ending, done.passing) == (1, 0)


async def test_codes_with_days_of_their_own_end_on_them(flow):
    await posted(flow)
    rows = [CodeRow("J029", None, date(2024, 3, 31)), CodeRow("R059")]
    done = await finished(flow, await begun(flow, rows, new=edition(first=date(2024, 4, 1))))
    assert done.ending == 1
    rows = [CodeRow("J029", None, date(2024, 4, 30)), CodeRow("R059")]
    done = await finished(flow, await begun(flow, rows, new=edition(first=date(2024, 4, 1))))
    assert done.ending == 0


async def test_a_rule_that_is_off_for_the_payer_of_a_claim_finds_nothing(flow):
    await posted(flow)
    off = [RuleSetting(rule=rule, payer_id=PAYER, severity="off") for rule in ("C503", "C504")]
    settings = RuleSettings(off)
    flow.context = replace(flow.context, rule_settings=lambda: settings)
    done = await finished(flow, await begun(flow))
    assert (done.read, done.ending, done.passing) == (4, 0, 0)


@pytest.mark.both_databases
async def test_older_claims_are_left_out(flow):
    await posted(flow)
    trial = await begun(flow, since=START.date() + timedelta(days=1))
    assert trial.total == 0
    assert (await finished(flow, trial)).read == 0


@pytest.mark.both_databases
async def test_a_trial_goes_on_where_a_run_that_died_stopped(flow, monkeypatch):
    await posted(flow)
    monkeypatch.setattr(try_codes, "CLAIMS_AT_ONCE", 1)
    monkeypatch.setattr(try_codes, "SAVE_SECONDS", 0)
    trial = await begun(flow)
    save, saved = trials.save_progress, []

    async def die_after_two(*args, **options):
        kept = await save(*args, **options)
        saved.append(kept)
        if len(saved) == 2:
            raise ConnectionError
        return kept

    monkeypatch.setattr(trials, "save_progress", die_after_two)
    with pytest.raises(ConnectionError):
        await work_on_trials(flow.context)
    half = await trials.find_trial(flow.database, trial.id)
    assert (half.state, half.read) == ("open", 2)
    assert await work_on_trials(flow.context) == 0, "another run has the lease"

    async def expire(tx):
        await tx.run(EXPIRE)

    await flow.database.write(trials.SCOPE, expire, actor=OPERATOR)
    done = await finished(flow, trial)
    assert (done.read, done.ending, done.passing) == (4, 1, 2)


@pytest.mark.both_databases
async def test_a_trial_that_was_canceled_ends_at_the_next_page(flow, monkeypatch):
    await posted(flow)
    trial = await begun(flow)
    read_page = try_codes._read_page

    async def cancel_first(context, after, before):
        done = await trials.end_trial(flow.database, trial.id, "canceled", actor=OPERATOR)
        assert done is not None
        return await read_page(context, after, before)

    monkeypatch.setattr(try_codes, "_read_page", cancel_first)
    assert await work_on_trials(flow.context) == 0
    done = await trials.find_trial(flow.database, trial.id)
    assert (done.state, done.read, done.ending) == ("canceled", 0, 0)
    assert await list_editions(flow.database) == []
    assert await trials.end_trial(flow.database, trial.id, "canceled", actor=OPERATOR) is None


async def test_a_list_that_is_not_in_force_yet_is_tried_on_every_claim(flow):
    await posted(flow)
    done = await finished(flow, await begun(flow, ["99213"], new=edition(list="cpt")))
    assert done.read == 4


async def test_a_trial_waits_for_claims_that_are_submitted(flow, monkeypatch):
    await posted(flow)
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    monkeypatch.setattr(try_codes, "CLAIMS_AT_ONCE", 2)
    monkeypatch.setattr(try_codes.asyncio, "sleep", sleep)
    flow.context.intake.priority.record_claims(1_000_000)
    await finished(flow, await begun(flow))
    assert set(slept) == {try_codes.CALM_SECONDS}


async def test_lists_whose_codes_claims_do_not_state_are_refused(flow):
    with pytest.raises(OperationRefused, match="ncci-ptp cannot be tried"):
        await begun(flow, new=edition(list="ncci-ptp"))
    with pytest.raises(OperationRefused, match=r"order.txt has no code"):
        await begun(flow, [CodeRow("R059", None, date(2020, 1, 1))])
    assert await list_editions(flow.database) == []


def test_the_text_of_a_claim_holds_codes_with_or_without_dots():
    wanted = frozenset({"F21", "I420", "J029"})
    assert stated_codes(b'{"F21_DiagnosisCodes":["i42.0","E119"]}', wanted) == {"I420"}
    assert stated_codes(b"HI*ABK:J029*ABF:I10~", wanted) == {"J029"}
    assert stated_codes(b'"F34a_DiagnosisCode":"F21,K029"', wanted) == {"F21"}


def test_every_node_works_on_trials():
    assert try_codes.trial_tick in {tick.verb for tick in schedule.TICKS}
