"""Findings, clocks and identities.

Also tests `kernel/limits`, `kernel/ids`, `kernel/redacted_repr` and `kernel/finding`.
"""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from clearlane.kernel.clock import SystemClock, from_micros, time_zones, to_micros
from clearlane.kernel.finding import Finding, SegmentPosition, Severity, Stage
from clearlane.kernel.ids import (
    LETTERS_AND_DIGITS,
    Scope,
    SiteId,
    VendorId,
    new_number,
    number_moment,
    random_bytes,
    random_text,
)
from clearlane.kernel.json_names import is_null
from clearlane.kernel.redacted_repr import redact_repr
from tests.manual_clock import ManualClock


def test_a_finding_is_an_error_by_default():
    finding = Finding(rule="R1", message="Give a day.")
    assert (finding.severity, finding.stage, finding.snip) == (Severity.ERROR, Stage.RULE, None)


def test_a_position_that_does_not_apply_is_zero():
    assert SegmentPosition() == SegmentPosition(
        interchange=0, group=0, set=0, segment=0, file_segment=0
    )


@given(
    st.datetimes(
        min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1), timezones=st.just(UTC)
    )
)
def test_moments_survive_the_database(when):
    assert from_micros(to_micros(when)) == when


def test_the_manual_clock_moves_when_advanced():
    clock = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
    clock.advance(timedelta(days=2))
    assert clock.now() == datetime(2026, 1, 3, tzinfo=UTC)


def test_time_zones_have_names_that_mean_the_same_everywhere():
    assert {"UTC", "America/Chicago"} < time_zones()
    assert not {"", "localtime", "Chicago", "../UTC"} & time_zones()


def test_the_system_clock_returns_utc():
    assert SystemClock().now().utcoffset() == timedelta(0)


def test_random_text_uses_letters_and_digits_only():
    text = random_text(64)
    assert len(text) == 64
    assert set(text) <= set(LETTERS_AND_DIGITS)
    assert random_text(64) != text


def test_a_scope_is_a_value():
    assert Scope(VendorId(1), SiteId(2)) == Scope(VendorId(1), SiteId(2))


def test_a_redacted_repr_names_filled_fields_and_no_values():
    @redact_repr
    @dataclass(frozen=True)
    class Patient:
        name: str | None = None
        born: str | None = None

    assert "Patient(name)" in repr(Patient(name="ROSA ARDEN"))
    assert "ROSA" not in repr(Patient(name="ROSA ARDEN"))


def test_random_bytes_are_given_once():
    drawn = [random_bytes(12) for _ in range(2_000)]
    assert len(set(drawn)) == len(drawn)
    assert {len(each) for each in drawn} == {12}
    assert len(random_bytes(10_000)) == 10_000


async def test_the_wall_clock_waits_until_a_moment_and_not_for_one_that_is_past():
    clock = SystemClock()
    moment = clock.now() + timedelta(milliseconds=2)
    await clock.wait_until(moment)
    assert clock.now() >= moment
    await clock.wait_until(moment)


async def test_a_manual_clock_may_move_twice_before_the_waiting_wake_up():
    clock = ManualClock(datetime(2026, 2, 3, tzinfo=UTC))
    waiting = asyncio.ensure_future(clock.wait_until(clock.now() + timedelta(days=2)))
    await asyncio.sleep(0)
    clock.advance(timedelta(days=1))
    clock.advance(timedelta(days=1))
    await waiting


def test_an_id_tells_when_it_was_made():
    moment = datetime(2026, 11, 16, 9, 30, 15, 250_000, tzinfo=UTC)
    assert number_moment(new_number(moment)) == moment


def test_null_is_known_before_and_after_it_is_decoded():
    assert [is_null(one) for one in (msgspec.Raw(b"null "), msgspec.Raw(b'"null"'))] == [
        True,
        False,
    ]
    assert [is_null(one) for one in (None, 0, "", False)] == [True, False, False, False]
