"""Read what a person copies from a bank statement: an amount, a check number, a trace number.

    read_bank_text("$1,234.50")                             # amounts (123450,)
    read_bank_text("HCCLAIMPMT TRN*1*9981*1512345678")      # traces ("9981",)
    read_bank_text("CHECK 0009981")                         # traces ("CHECK 0009981", ..., "0009981")

A number without a decimal point may be either, and both are searched. Knows texts; knows no payment.
"""

import re
from typing import NamedTuple

from clearlane.kernel.formats import parse_amount, to_cents

BANK_TEXT_CHARACTERS_MAX = 120
TRACES_SEARCHED_MAX = 8


class BankSearch(NamedTuple):
    """What a bank statement may mean: any of these amounts, or any of these trace numbers."""

    amounts: tuple[int, ...] = ()
    """Cents."""
    traces: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Leave out the numbers: a trace number identifies a payment."""
        return f"BankSearch({len(self.amounts)} amounts, {len(self.traces)} traces)"


# TRN02 in the addenda record of a transfer (CCD+), as banks print it.
_REASSOCIATION = re.compile(r"TRN[*|~^\s]1[*|~^\s]([^*|~^\\\s]+)", re.ASCII | re.IGNORECASE)
_AMOUNT = re.compile(r"(\(?-?\$?-?)([0-9][0-9,]*(?:\.[0-9]{1,2})?)(\)?)", re.ASCII)


def read_bank_text(text: str) -> BankSearch:
    """Return the amounts and trace numbers that a text may mean; nothing for an empty text."""
    text = " ".join(text[:BANK_TEXT_CHARACTERS_MAX].split())
    if not text:
        return BankSearch()
    amount = _read_amount(text)
    reassociation = _REASSOCIATION.search(text)
    if reassociation:
        return BankSearch(traces=(reassociation[1],))
    if amount is not None and ("." in text or "$" in text):
        return BankSearch(amounts=(amount,))
    words = [word.strip(",;:#") for word in text.split()]
    # "EFT 20031": the bank puts a word before the number; "CHECK# 9981" puts a mark between them.
    numbered = [word for word in words if any(one.isdigit() for one in word)]
    traces = dict.fromkeys((text, text.replace(" ", ""), *numbered))
    return BankSearch(
        () if amount is None else (amount,), tuple(filter(None, traces))[:TRACES_SEARCHED_MAX]
    )


def _read_amount(text: str) -> int | None:
    found = _AMOUNT.fullmatch(text)
    value = parse_amount(found[2].replace(",", "")) if found else None
    whole = to_cents(value)
    if found is None or whole is None:
        return None
    # Banks write what was taken back with a minus or in brackets.
    return -whole if "-" in found[1] or "(" in found[1] else whole
