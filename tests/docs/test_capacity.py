"""The page of capacity is what its program computes."""

import pytest

from tools.docs.capacity import PAGE, Measured, capacity, national, page_text


def test_the_page_is_what_the_program_writes():
    assert PAGE.read_text(encoding="utf-8") == page_text(), (
        "run: .venv/bin/python -m tools.docs.capacity"
    )


def test_a_load_needs_cores_for_its_peak_and_disk_for_its_years():
    cost = Measured(claim_ms=6, claim_server_ms=3, claim_bytes=10_000, inquiry_ms=6)
    of = capacity(1_728_000, 0, 10, cost)  # 100 claims a second at the peak
    assert of.claims_a_second == pytest.approx(100)
    assert (of.node_cores, of.server_cores) == (1, 1)
    assert of.terabytes_a_year == pytest.approx(4.32)
    assert of.terabytes == pytest.approx(43.2)
    assert of.installations == 3
    assert capacity(17_280_000, 0, 10, cost).node_cores == 10
    assert capacity(0, 17_280_000, 10, cost).node_cores == 10


def test_transactions_of_a_year_are_claims_and_inquiries_of_a_day():
    claims, inquiries = national(15e9)
    assert (claims, inquiries) == (10e6, 15e6)
