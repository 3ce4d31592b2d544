"""Every action that anything writes to the audit trail has a sentence: the source is searched for them."""

import ast
import re
from itertools import product

import pytest

from clearlane.enrollment.lifecycle import EnrollmentEvent
from clearlane.events.types import TYPES
from clearlane.pipeline.inquiry.inquiry_transactions import TRANSACTIONS
from clearlane.store.accounts.accounts import SiteSwitch
from clearlane.store.audit.audit_actions import (
    AUDIT_ACTIONS,
    CHANGES,
    LOOKS,
    audit_words,
    is_change,
)
from clearlane.store.delivery import inbox
from tests.architecture.source import SOURCE, nodes_of, python_files

# It shares the syntax trees with the tests of the architecture.
pytestmark = pytest.mark.group("architecture")

WRITERS = ("api", "cli", "console", "engine", "pipeline", "sandbox", "sftp_server", "store")
AUDIT_CALLS = frozenset({"audit", "write_audit"})
NOUNS = "|".join(sorted({re.escape(action.split(".")[0]) for action in AUDIT_ACTIONS}))
LOOKS_LIKE_ACTION = re.compile(rf"(?:{NOUNS})(?:\.[a-z_]+)+")
SUBJECTS = sorted({one.subject for one in TRANSACTIONS.values()})
# Actions that are put together, by their text with * for what is put in.
MADE = {
    "enrollment.*": [f"enrollment.{event}" for event in EnrollmentEvent],
    "inbox.*": [
        f"inbox.{state}"
        for state in (
            inbox.STORED, inbox.APPLIED, inbox.PARKED, inbox.QUARANTINED, inbox.DISCARDED,
            inbox.UNKNOWN_SENDER, inbox.TEST_FILE,
        )
    ],
    "instance.*": ["instance.enable", "instance.disable"],
    "site.*_*": [f"site.{one}_{way}" for one, way in product(SiteSwitch, ("on", "off"))],
    "vendor.proxy_login_*": ["vendor.proxy_login_on", "vendor.proxy_login_off"],
    **{
        f"*.{verb}": [f"{subject}.{verb}" for subject in SUBJECTS]
        for verb in ("file_answered", "forgotten", "mailed", "read", "shown", "submit")
    },
    "*.not_accepted": [f"{subject}.not_accepted" for subject in SUBJECTS],
}  # fmt: skip
# What looks like an action and is none.
NO_ACTIONS = frozenset({"audit.anchor", "claims.header", "payer.id", "payer.name", "payer.coverage", "proof.checkpoints", "sandbox.json", "schema.json"})  # fmt: skip


def written_constants():
    """Return each text of the writers that may be an action, with its place."""
    for part in WRITERS:
        for file in python_files(SOURCE / part):
            if file.name == "audit_actions.py" or "schema" in file.parts:
                continue
            for node in nodes_of(file):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value, f"{file.relative_to(SOURCE)}:{node.lineno}"


def is_no_action(text):
    noun, _, rest = text.partition(".")
    return (
        text in TYPES
        or text in NO_ACTIONS
        or (SOURCE / "console" / "pages" / text).exists()
        or (SOURCE / "cli" / noun / f"{rest}.py").exists()
    )


def made_actions():
    """Return the texts with parts put in that are given to the audit, or are called an action."""
    for part in WRITERS:
        for file in python_files(SOURCE / part):
            for node in nodes_of(file):
                given = []
                if isinstance(node, ast.Call):
                    called = getattr(node.func, "attr", getattr(node.func, "id", ""))
                    given = node.args if called in AUDIT_CALLS else []
                if isinstance(node, ast.Assign):
                    names = [name.id for name in ast.walk(node) if isinstance(name, ast.Name)]
                    given = [node.value] if "action" in names else []
                for each in given:
                    for text in ast.walk(each):
                        if isinstance(text, ast.JoinedStr):
                            yield "".join(
                                one.value if isinstance(one, ast.Constant) else "*"
                                for one in text.values
                            )


def test_every_action_that_is_written_has_a_sentence():
    missing = {
        text: place
        for text, place in written_constants()
        if LOOKS_LIKE_ACTION.fullmatch(text)
        and text not in AUDIT_ACTIONS
        and not text.startswith(("claims.claim_number", "vendor.proxy_login_"))
        and not is_no_action(text)
    }
    assert missing == {}


def test_every_action_that_is_put_together_has_a_sentence():
    found = set(made_actions())
    assert found <= MADE.keys()
    assert {one for made in MADE.values() for one in made} <= AUDIT_ACTIONS.keys()


def test_an_action_is_a_look_or_a_change_and_its_sentence_is_one():
    assert not LOOKS.keys() & CHANGES.keys()
    for action, sentence in AUDIT_ACTIONS.items():
        assert sentence[0].isupper(), action
        assert sentence[-1] != ".", action


@pytest.mark.parametrize(
    ("action", "words", "changes"),
    [
        ("claim.read", "A claim was looked at", False),
        ("console.sign_in", "A person signed in", False),
        ("claims.submit", "Claims were submitted", True),
        ("of.an_older_version", "of.an_older_version", True),
    ],
)
def test_an_action_is_named_in_words(action, words, changes):
    assert (audit_words(action), is_change(action)) == (words, changes)
