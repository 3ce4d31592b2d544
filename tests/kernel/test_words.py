"""Findings, clocks and identities."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from clearlane.kernel.clock import ManualClock, SystemClock, micros, moment
from clearlane.kernel.finding import Finding, Severity, Spot, Stage
from clearlane.kernel.ids import (
    LETTERS_AND_DIGITS,
    Scope,
    SiteId,
    VendorId,
    random_bytes,
    random_text,
)
from clearlane.kernel.redacted_repr import discreet


def test_a_finding_is_an_error_unless_it_says_otherwise():
    finding = Finding(rule="R1", message="Give a day.")
    assert (finding.severity, finding.stage, finding.snip) == (Severity.ERROR, Stage.RULE, None)


def test_a_spot_that_does_not_apply_is_zero():
    assert Spot() == Spot(interchange=0, group=0, set=0, segment=0, line=0)


@given(
    st.datetimes(
        min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1), timezones=st.just(UTC)
    )
)
def test_moments_survive_the_database(when):
    assert moment(micros(when)) == when


def test_the_manual_clock_moves_when_told():
    clock = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
    clock.advance(timedelta(days=2))
    assert clock.now() == datetime(2026, 1, 3, tzinfo=UTC)


def test_the_system_clock_speaks_utc():
    assert SystemClock().now().utcoffset() == timedelta(0)


def test_random_text_uses_letters_and_digits_only():
    text = random_text(64)
    assert len(text) == 64
    assert set(text) <= set(LETTERS_AND_DIGITS)
    assert random_text(64) != text


def test_a_scope_is_a_value():
    assert Scope(VendorId(1), SiteId(2)) == Scope(VendorId(1), SiteId(2))


def test_a_discreet_value_prints_what_is_filled_and_not_what_it_holds():
    @discreet
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
