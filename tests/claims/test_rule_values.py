"""The quick tests of values agree with the rules they replace.

Also tests `claims/rules/values`.
"""

import random
import string
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from clearlane.claims import codes
from clearlane.claims.fields import DentalAdjustment, Tooth, fields_of
from clearlane.claims.forms import FORMS
from clearlane.claims.forms.samples import npi
from clearlane.claims.read.repairs import CARRIED, is_carried
from clearlane.claims.rules import RULES
from clearlane.claims.rules.values import PLAIN, plain_texts_fit, quick_test
from clearlane.claims.value_types import EarlierAdjustment, ValueType
from tests.cases import every_case, full_or_quick

PARTS = [part for schema in FORMS.values() for part in (schema.claim, schema.line)]
ROWS = [row for part in (*PARTS, Tooth, DentalAdjustment) for row in fields_of(part).values()]
TEXTS = st.one_of(
    st.text(min_size=1, max_size=120),
    st.text(CARRIED, min_size=1, max_size=120),
    st.sampled_from(
        [
            "TX",
            "ON",
            "78701",
            "787011234",
            "00000",
            "5125550142",
            npi(123000000),
            "207Q00000X",
            "123456789",
            "111111111",
            "99213",
            "D1110",
            "J3490",
            "00009001103",
            "25",
            "25,59",
            "25,59,76,77,GT",
            "30",
            "A",
            "82",
            "NONE",
            "SAME",
            "18",
            "M",
            "11",
            "L1",
            "L1,L2",
            "J029",
            "A,B",
            "1",
        ]
    ),
)
NUMBERS = st.one_of(
    st.decimals(
        allow_nan=False, allow_infinity=False, places=4, min_value=-(10**9), max_value=10**9
    ),
    st.sampled_from(
        [
            Decimal(n)
            for n in ("0", "0.00", "1", "1.10", "-1", "0.001", "99999999.99", "1E+8", "1E+28")
        ]
    ),
)
ADJUSTMENTS = st.lists(
    st.builds(EarlierAdjustment, st.sampled_from([None, "45", "ZZ9"]), NUMBERS),
    min_size=1,
    max_size=8,
).map(tuple)
VALUES = {ValueType.AMOUNT: NUMBERS, ValueType.COUNT: NUMBERS, ValueType.ADJUSTMENTS: ADJUSTMENTS}


def said(row, value):
    """What the rules of single values say, one by one."""
    own = (rule for rule in RULES.values() if row.value_type in rule.value_types)
    return [message for rule in own if (message := rule.check(value, row)) is not None]


@settings(max_examples=full_or_quick(300, 30), deadline=None)
@given(data=st.data())
def test_a_quick_test_passes_exactly_what_breaks_no_rule(data):
    row = data.draw(st.sampled_from(ROWS))
    value = data.draw(VALUES.get(row.value_type, TEXTS))
    if row.value_type in PLAIN:
        fits = plain_texts_fit([value], [row.min_length], [row.max_length or 0])
        placeholder = row.value_type is not ValueType.REFERENCE and not said(row, value)
        assert fits == (not said(row, value)) or (placeholder and not fits)
    elif quick := quick_test(row):
        assert bool(quick(value)) == (not said(row, value)), (row.name, value)
    else:
        assert not any(row.value_type in rule.value_types for rule in RULES.values())


def test_no_text_at_all_fits():
    assert plain_texts_fit([], [], [])


def test_the_carried_characters_are_those_of_x12_without_separators():
    for code in range(256):
        character = chr(code)
        allowed = (
            character in string.ascii_uppercase + string.digits + " !\"&'()+,-./;?=%@[]_{}\\|<>#$"
        )
        assert is_carried(character) == allowed, repr(character)


@every_case("row", [row for row in ROWS if row.codes], ids=lambda row: row.name)
def test_every_code_of_a_list_passes_its_field(row):
    quick = quick_test(row)
    for code in codes.meanings(row.codes):
        assert quick(code)
    assert not quick("no such code")


def test_a_million_npis_keep_the_memory_bounded():
    quick = quick_test(fields_of(FORMS["v3_medical"].claim)["F33A_BillingProviderNpi"])
    generator = random.Random(5)
    for _ in range(20_000):
        quick(str(generator.randint(10**9, 10**10)))
    assert quick.cache_info().currsize <= quick.cache_info().maxsize
