"""A full sample of a 271 with nearly every kind of benefit, and the related entities of responses.

Knows benefits; knows no member, no file and no scenario. All data are invented.
"""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from clearlane.sandbox.responses.benefits import (
    ACTIVE,
    COPAY,
    DEDUCTIBLE,
    EITHER,
    FAMILY,
    HEALTH,
    INSIDE,
    LIMIT,
    NOT_COVERED,
    ONE,
    OUTSIDE,
    REMAINING,
    SHARE,
    STOP_LOSS,
    VISIT,
    YEAR,
    Benefit,
    DateRow,
    Party,
)

CARE_PROVIDER, OTHER_PAYER = "L", "R"

PCP = Party(
    role="P3",
    entity="1",
    name="FENN",
    first="OSKAR",
    qualifier="XX",
    number="1679576722",
    street="12 FERN STREET",
    city=("PORTLAND", "OR", "972011234"),
    telephone="5035550111",
    taxonomy="207Q00000X",
)
SECOND_PAYER = Party(
    role="PR",
    entity="2",
    name="HARBOR HEALTH PLAN",
    qualifier="PI",
    number="HHP20",
    street="40 QUAY ROAD",
    city=("PORTLAND", "OR", "97209"),
    telephone="5035550140",
)
VENDOR = Party(
    role="VN",
    entity="2",
    name="FERNLEAF PHARMACY SERVICE",
    qualifier="PI",
    number="FLRX1",
    telephone="8005550188",
)
FACILITY = Party(
    role="FA",
    entity="2",
    name="FERNHILL FAMILY PRACTICE",
    qualifier="XX",
    number="1234567893",
    telephone="5035550110",
)


def party_benefits(day: date) -> tuple[Benefit, ...]:
    """Return the primary care provider and another payer, which some payers send each time."""
    start = date(day.year, 1, 1)
    return (
        Benefit(
            kind=CARE_PROVIDER,
            level=ONE,
            services=(HEALTH,),
            dates=(("292", start, start),),
            parties=(PCP,),
        ),
        Benefit(
            kind=OTHER_PAYER,
            level=ONE,
            services=(HEALTH,),
            insurance="C1",
            references=(("18", "H20", "HARBOR COMPLETE"),),
            dates=(("290", start, start),),
            parties=(SECOND_PAYER,),
        ),
    )


def all_benefits(day: date) -> tuple[Benefit, ...]:
    """Return nearly every kind of benefit."""
    first, last = date(day.year, 1, 1), date(day.year, 12, 31)
    year = (("291", first, last),)
    return (*_statuses(year), *_amounts(), *_limits(first), *_words(), *party_benefits(day))


_LISTED = (
    "1", "33", "45", "47", "48", "50", "52", "69", "86", "88", "98", "AL", "DM", "MH", "UC",
)  # fmt: skip


def _statuses(year: tuple[DateRow, ...]) -> Iterator[Benefit]:
    yield Benefit(
        kind=ACTIVE,
        level=FAMILY,
        services=(HEALTH,),
        insurance="PR",
        plan="FERNLEAF COMPLETE",
        references=(("18", "FC100", "FERNLEAF COMPLETE"), ("6P", "G10070", "LARKSPUR DENTAL")),
        dates=year,
    )
    yield Benefit(kind=ACTIVE, level=ONE, services=_LISTED, network=EITHER)
    yield Benefit(kind=ACTIVE, level="CHD", services=("35", "AL"), network="U")
    yield Benefit(kind="CB", level="EMP", services=(HEALTH,), messages=("CALENDAR YEAR PLAN",))
    yield Benefit(
        kind=NOT_COVERED, level=ONE, services=("AM",), messages=("FRAMES ARE NOT COVERED",)
    )
    yield Benefit(kind="E", level=ONE, services=("82",))


# Kind, level, service types, period, amount, share, network: rows of money.
_MONEY: tuple[tuple[str, str, str, str, str, str, str], ...] = (
    (DEDUCTIBLE, ONE, "30", YEAR, "1500", "", INSIDE),
    (DEDUCTIBLE, ONE, "30", REMAINING, "612.5", "", INSIDE),
    (DEDUCTIBLE, ONE, "30", YEAR, "3000", "", OUTSIDE),
    (DEDUCTIBLE, FAMILY, "30", YEAR, "3000", "", INSIDE),
    (DEDUCTIBLE, FAMILY, "30", "24", "2387.5", "", INSIDE),
    (DEDUCTIBLE, FAMILY, "30", REMAINING, "612.5", "", INSIDE),
    (DEDUCTIBLE, ONE, "88", YEAR, "100", "", EITHER),
    (STOP_LOSS, ONE, "30", YEAR, "6000", "", INSIDE),
    (STOP_LOSS, ONE, "30", REMAINING, "4102.75", "", INSIDE),
    (STOP_LOSS, FAMILY, "30", YEAR, "12000", "", INSIDE),
    (STOP_LOSS, FAMILY, "30", REMAINING, "9010.25", "", INSIDE),
    (STOP_LOSS, ONE, "30", YEAR, "12000", "", OUTSIDE),
    (COPAY, ONE, "98", VISIT, "25", "", INSIDE),
    (COPAY, ONE, "UC", VISIT, "60", "", INSIDE),
    (COPAY, ONE, "86^52", "26", "250", "", EITHER),
    (COPAY, ONE, "48", "36", "400", "", INSIDE),
    (COPAY, ONE, "48", "7", "100", "", OUTSIDE),
    (SHARE, ONE, "1^47^48^50^69", "", "", "0.1", INSIDE),
    (SHARE, ONE, "1^47^48^50^69", "", "", "0.4", OUTSIDE),
    (SHARE, ONE, "DM", "", "", "0.2", EITHER),
    (SHARE, FAMILY, "45", "", "", "0", INSIDE),
    (LIMIT, ONE, "30", "32", "2000000", "", INSIDE),
    (LIMIT, ONE, "30", "33", "1874211.4", "", INSIDE),
    (LIMIT, ONE, "AL", "22", "150", "", INSIDE),
    (LIMIT, ONE, "88", "34", "300", "", EITHER),
    ("J", ONE, "88", "25", "50", "", "U"),
    ("Y", ONE, "30", "34", "0", "", "U"),
)


def _amounts() -> Iterator[Benefit]:
    for kind, level, services, period, amount, share, network in _MONEY:
        yield Benefit(
            kind=kind,
            level=level,
            services=tuple(services.split("^")),
            period=period,
            amount=Decimal(amount) if amount else None,
            share=Decimal(share) if share else None,
            network=network,
        )


def _limits(first: date) -> Iterator[Benefit]:
    """Yield benefits limited by count."""
    yield Benefit(
        kind=LIMIT,
        level=ONE,
        services=("33",),
        period=YEAR,
        unit="VS",
        quantity=Decimal(20),
        network=INSIDE,
    )
    yield Benefit(
        kind=LIMIT,
        level=ONE,
        services=("33",),
        period=REMAINING,
        unit="VS",
        quantity=Decimal(14),
        network=INSIDE,
        dates=(("304", first, first),),
    )
    yield Benefit(
        kind=LIMIT,
        level=ONE,
        services=("48",),
        period=YEAR,
        unit="99",
        quantity=Decimal(3),
        authorized="Y",
        network=INSIDE,
        references=(("G1", "AUTH7001"),),
    )
    yield Benefit(
        kind=LIMIT,
        level=ONE,
        services=("MH",),
        authorized="N",
        network=INSIDE,
        deliveries=(("VS", "2", "WK", "", "34", "3"), ("VS", "30", "", "", "22", "1")),
        conditions=(("ZZ", "11"), ("ZZ", "22")),
        messages=("TWO VISITS A WEEK FOR THREE MONTHS", "THIRTY VISITS IN A SERVICE YEAR"),
    )
    yield Benefit(
        kind=LIMIT,
        level="DEP",
        services=("35",),
        period="21",
        unit="YY",
        quantity=Decimal(19),
        messages=("DEPENDENTS ARE COVERED TO THE AGE OF 19",),
    )
    yield Benefit(kind="H", level=ONE, services=("68",), network=INSIDE)


def _words() -> Iterator[Benefit]:
    """Yield benefits with messages or contacts."""
    yield Benefit(
        kind="D",
        level=ONE,
        services=("69",),
        authorized="U",
        network=INSIDE,
        messages=("NOTIFY THE PLAN BEFORE THE TWENTIETH WEEK",),
    )
    yield Benefit(
        kind=ACTIVE, level=ONE, authorized="Y", network=INSIDE, procedure=("HC", "97110", "GP")
    )
    yield Benefit(kind="U", level=ONE, services=("88",), parties=(VENDOR,))
    yield Benefit(kind="X", level=ONE, services=("50",), parties=(FACILITY,))
    yield Benefit(
        kind="D",
        level=ONE,
        services=("59",),
        refusals=(("N", "", "AE", "R"),),
    )
    yield Benefit(kind="P", services=(HEALTH,), messages=("BENEFITS ARE NO PROMISE OF PAYMENT",))
