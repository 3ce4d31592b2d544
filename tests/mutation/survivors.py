"""Changes that no test notices, and why: the judgement on what `make mutation` prints as survived.

A change is named by its file below `src/clearlane`, the outermost function around it, and the code before and after,
as printed. Where a function has the same change several times, the last column says which of them.
"""

from typing import NamedTuple

from tests.mutation.mutants import Mutant

PRODUCT = "src/clearlane/"


class Change(NamedTuple):
    """A change of one place, as a mutant is printed."""

    file: str
    function: str
    before: str
    after: str
    which: int = 1


Reasons = dict[str, tuple[Change, ...]]

EQUIVALENT: Reasons = {
    # x12
    "Python ignores a sign at the end of a codec's name": (
        Change("x12/show/page.py", "read_style", "'utf-8'", "'utf-8~'"),
        Change("x12/reader/lexer.py", "Lexer.feed", "'latin-1'", "'latin-1~'"),
        Change("store/vault/keys.py", "read_key_file", "'ascii'", "'ascii~'"),
        Change("store/vault/keys.py", "write_key_file", "'ascii'", "'ascii~'"),
    ),
    "the long way, for what is longer, gives the same number": (
        Change("x12/rules/__init__.py", "parse_cents", "1", "2"),
    ),
    "the count of a set is set before anything reads it": (
        Change("x12/writer/build.py", "build", "'0'", "'0~'"),
    ),
    "every header sets it before any segment is read": (
        Change("x12/reader/lexer.py", "Lexer.__init__", "False", "True"),
    ),
    "a character of each, in their order": (
        Change("x12/show/redact.py", "_rank", "True", "False"),
    ),
    "the four separators have it already": (
        Change("x12/show/reformat.py", "_Writer._set_source", "''", "'~'"),
    ),
    "a key of a memory that one function reads and writes": (
        Change("x12/automaton.py", "Automaton.find_move", "'*'", "'*~'"),
        Change(
            "x12/rules/remittance.py",
            "reversals_come_in_pairs",
            "'835-reversed'",
            "'835-reversed~'",
        ),
        Change(
            "x12/rules/claims.py", "claim_number_is_used_once", "'837-numbers'", "'837-numbers~'"
        ),
    ),
    "the caller asks only whether there is any": (
        Change("x12/reader/lexer.py", "Lexer._split_body", "return ''", "return None", 2),
        Change("x12/checker/value_checks.py", "compile_quick_check", "return False", "return None"),
        Change("claims/lifecycle.py", "_fit", "return 0", "return None"),
    ),
    "a group begins before its first set, and counts from 0": (
        Change("x12/reader/set_slices.py", "_Counts.next_interchange", "0", "1", 2),
    ),
    "nothing is asked of a lexer after its end": (
        Change("x12/reader/lexer.py", "Lexer.finish", "0", "1"),
    ),
    # store/vault
    "names and values of one row are as many": (
        Change("store/vault/vault.py", "Vault._find_or_make_key", "True", "False"),
    ),
    # claims/lifecycle
    "one remittance is sorted already": (
        Change("claims/lifecycle.py", "_sorted_remits", "len(found) > 1", "len(found) >= 1"),
    ),
    "only which of two fits is better is asked": (Change("claims/lifecycle.py", "_fit", "3", "4"),),
    "two parts of a file are never at the same place in it": (
        Change(
            "claims/lifecycle.py",
            "_fit",
            "other.order < reversal.order",
            "other.order <= reversal.order",
        ),
    ),
    # claims/rules
    "Every field of plain text has a longest length.": (
        Change("claims/rules/__init__.py", "_plan", "0", "1"),
    ),
    "What is gone through together has one length: one is made from the other.": (
        Change("claims/rules/places.py", "place_is_valid_on_the_day", "True", "False"),
        Change("claims/rules/remaining_liability.py", "_remaining", "True", "False"),
        Change("pdf/claim_table.py", "Amounts.plus", "True", "False"),
        Change("pdf/benefits_pdf.py", "_add_groups", "True", "False"),
    ),
    "Equal texts stay equal, whatever stands between their characters.": (
        Change("claims/rules/people.py", "_key", "''", "'~'"),
    ),
    "No type of bill, revenue code or frequency is either of them.": (
        Change("claims/rules/institutional/bill_types.py", "usage", "''", "'~'"),
        Change("claims/rules/institutional/facility_codes.py", "is_operation", "''", "'~'"),
        Change(
            "claims/rules/institutional/medicare.py",
            "change_for_medicare_has_a_reason",
            "''",
            "'~'",
        ),
    ),
    "A code that is valid up to the last day is valid: the function has returned.": (
        Change(
            "claims/rules/imported_lists.py",
            "_why_not_valid",
            "period.last_day < last",
            "period.last_day <= last",
        ),
    ),
    # payments, pdf
    "Python reads the name of an encoding without its punctuation.": (
        Change("payments/cut_remittance.py", "cut_remittance", "'latin-1'", "'latin-1~'"),
        Change("payments/cut_remittance.py", "cut_remittance", "'latin-1'", "'latin-1~'", 2),
    ),
    "The caller asks only whether there is anything.": (
        Change("payments/payment_csv.py", "_claim_rest", "return {}", "return None"),
    ),
    "The first page is begun before this is asked.": (
        Change("pdf/pages.py", "Pages.__init__", "False", "True"),
    ),
}
"""The program means the same, for any input. Such a change is left out of the share."""

UNNOTICED: Reasons = {
    # x12
    "a pattern may match a sign that cannot be there: it ends a segment": (
        Change("x12/pattern.py", "_text", "'}['", "'}[~'", 2),
    ),
    "a file that is read by its lines has the same bytes, in other pieces": (
        Change("x12/reader/reader.py", "_source_chunks", "'read'", "'read~'"),
    ),
    "made while the views are imported, which is before the change": (
        Change("x12/views/binding.py", "read_into", "return struct(**values)", "return None"),
        Change(
            "x12/views/binding.py",
            "_fill_plain",
            "segment + padding[len(segment)]",
            "segment - padding[len(segment)]",
        ),
        Change(
            "x12/views/binding.py",
            "_fill_plain",
            "use.name + '_words'",
            "use.name - '_words'",
        ),
        Change("x12/views/remittance.py", "_control", "2", "3"),
    ),
    # store/vault
    "the name of a file that has another one a moment later": (
        Change("store/vault/private_files.py", "write_private", "'.'", "'.~'"),
        Change("store/vault/private_files.py", "write_private", "'.'", "'.~'", 2),
    ),
    "differs for one in 4,611,686,018,427,387,904 random numbers": (
        Change(
            "store/vault/vault.py",
            "Vault._find_or_make_key",
            "secrets.randbits(62) + 1",
            "secrets.randbits(62) - 1",
        ),
        Change("store/vault/vault.py", "Vault._find_or_make_key", "1", "2"),
        Change("store/vault/vault.py", "Vault._find_or_make_key", "62", "63"),
    ),
    "what has no tag cannot be opened either; the error has another sentence": (
        Change(
            "store/vault/vault.py",
            "_header",
            "len(sealed) < PAYLOAD_AT",
            "len(sealed) <= PAYLOAD_AT",
        ),
    ),
    "nothing is recorded of who makes a data key": (
        Change("store/vault/vault.py", "Vault.ensure_key", "'node'", "'node~'"),
        Change("store/vault/vault.py", "Vault.ensure_key", "'vault'", "'vault~'"),
    ),
    "a key that is not remembered is read or unwrapped once more": (
        Change("store/vault/vault.py", "Vault.load", "0", "1"),
        Change("store/vault/vault.py", "Vault.load", "0", "1", 2),
        Change("store/vault/vault.py", "Vault.load", "self._keys.reload()", "pass"),
        Change(
            "store/vault/vault.py",
            "Vault.load_keys_of",
            "id not in self._known and id not in self._rows",
            "id not in self._known or id not in self._rows",
        ),
    ),
    # claims/lifecycle
    "differs only for two files that a payer wrote in the same minute, one of them with other amounts": (
        Change("claims/lifecycle.py", "_fit", "1", "2"),
    ),
    # claims/rules
    "called while the rules are imported, which is before the change": (
        Change(
            "claims/rules/registry.py",
            "_reading",
            "return lambda view, _: reading(view)",
            "return None",
        ),
    ),
    # payments, pdf
    "A guard against rows of another length than their heads, which no caller makes.": (
        Change("pdf/benefits_pdf.py", "_add_groups", "True", "False", 2),
    ),
}
"""The program is another one, but no reader would want a test of the difference. Such a change has survived."""


def change_of(mutant: Mutant) -> Change:
    """Return the name of a mutant in these tables."""
    file = str(mutant.file).removeprefix(PRODUCT)
    return Change(file, mutant.function, mutant.before, mutant.after, mutant.which)


def by_change(reasons: Reasons) -> dict[Change, str]:
    """Return the reason of each change."""
    return {change: reason for reason, changes in reasons.items() for change in changes}
