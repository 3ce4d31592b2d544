"""What people type in place of a command's name: plurals, other verbs, and words for what they mean.

    rewrite(["claims", "show", "C193N"], nouns)         # ["claim", "show", "C193N"]
    verb_named("get", verbs_of_claim)                   # "show"
    near("remittances", nouns, NOUNS_MEANT)             # ["payment list", ...]

A word with one meaning is taken for the command. A word that changes something, or that could mean several commands,
is never guessed: it leads to a suggestion.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches

LIST = "list"
SUGGESTIONS_MAX = 4
SAME_VERBS: Mapping[str, Sequence[str]] = {
    "get": ("show",),
    "view": ("show",),
    "info": ("show",),
    "ls": ("list",),
    "all": ("list",),
    "find": ("search",),
    "search": ("find",),
    "validate": ("check",),
    "lint": ("check",),
    "create": ("add",),
    "new": ("add",),
    "rm": ("remove",),
    "delete": ("remove",),
}
"""Other words for a verb, each with the verbs that it stands for: the first that the noun has."""
REWRITTEN: Mapping[str, Sequence[str]] = {
    "version": ("--version",),
    "open": ("console", "open"),
}
"""Whole commands under another name."""
NOUNS_MEANT: Mapping[str, Sequence[str]] = {
    "log": ("claim log", "events list", "call show"),
    "logs": ("claim log", "events list", "call show"),
    "start": ("serve",),
    "run": ("serve",),
    "server": ("serve", "status"),
    "up": ("serve",),
    "init": ("serve",),
    "health": ("status", "doctor"),
    "config": ("settings", "settings check"),
    "loglevel": ("log-level",),
    "support": ("support-bundle", "doctor"),
    "bundle": ("support-bundle",),
    "verbose": ("log-level",),
    "debug": ("log-level", "doctor"),
    "login": ("console open", "user add"),
    "password": ("user reset-password", "vendor rotate"),
    "key": ("api-key list", "keys show"),
    "token": ("api-key add",),
    "client": ("site list",),
    "clients": ("site list",),
    "provider": ("enrollment list",),
    "providers": ("enrollment list",),
    "patient": ("claim find", "eligibility submit"),
    "patients": ("claim find", "eligibility submit"),
    "benefits": ("eligibility submit", "eligibility show"),
    "remit": ("payment list",),
    "remits": ("payment list",),
    "remittance": ("payment list",),
    "remittances": ("payment list",),
    "era": ("payment list",),
    "eras": ("payment list",),
    "eob": ("payment pdf",),
    "835": ("payment list", "inbox list"),
    "837": ("file send", "claim x12"),
    "999": ("inbox list", "file list"),
    "277": ("claim ask", "inbox list"),
    "276": ("claim ask",),
    "270": ("eligibility submit",),
    "271": ("eligibility show",),
    "send": ("claim submit", "file send"),
    "submit": ("claim submit",),
    "upload": ("file send",),
    "download": ("file get",),
    "check": ("claim check", "x12 check"),
    "validate": ("claim check", "x12 check"),
    "parse": ("x12 describe", "x12 json"),
    "edi": ("x12 describe",),
    "search": ("claim find", "payer search"),
    "find": ("claim find", "payer search"),
    "void": ("claim void", "claim cancel"),
    "resubmit": ("claim resubmit", "claim correct"),
    "correct": ("claim correct",),
    "connection": ("route list",),
    "connections": ("route list",),
    "migrate": ("db upgrade",),
    "upgrade": ("db upgrade",),
    "test": ("doctor", "route test", "sandbox run"),
    "trigger": ("events trigger",),
    "seed": ("sandbox seed",),
    "demo": ("sandbox seed",),
    "history": ("claim show", "claim log"),
    "reset": ("sandbox reset",),
    "clock": ("sandbox clock",),
}
"""Words that are no command, and what was probably meant."""
VERBS_MEANT: Mapping[str, Sequence[str]] = {
    "find": ("search", "list", "show"),
    "search": ("list", "show"),
    "query": ("list", "show"),
    "log": ("show",),
    "history": ("log", "show"),
    "status": ("show", "list"),
    "read": ("show", "describe", "get"),
    "print": ("show", "pdf"),
    "download": ("get", "export", "pdf"),
    "save": ("get", "export"),
    "upload": ("send", "submit", "import"),
    "post": ("submit", "add", "send"),
    "create": ("submit", "sample", "start"),
    "new": ("submit", "sample", "start"),
    "make": ("sample", "add"),
    "edit": ("correct", "change", "set"),
    "update": ("correct", "change", "set"),
    "fix": ("correct", "replay"),
    "resubmit": ("correct", "resend"),
    "retry": ("resubmit", "resend", "replay", "release"),
    "resend": ("resubmit", "replay"),
    "stop": ("disable", "hold", "suspend", "cancel"),
    "pause": ("disable", "hold", "suspend"),
    "resume": ("enable", "release", "activate"),
    "start": ("enable", "release", "activate", "add"),
    "void": ("cancel", "correct"),
    "undo": ("cancel", "remove"),
    "delete": ("cancel", "discard", "remove", "disable"),
    "remove": ("cancel", "discard", "disable"),
    "rm": ("cancel", "discard", "disable"),
    "off": ("disable",),
    "on": ("enable",),
    "inquire": ("ask",),
    "trigger": ("advance", "test", "follow"),
    "listen": ("follow", "watch"),
    "tail": ("follow", "watch"),
    "down": ("payer",),
    "verify": ("check", "show"),
    "restore": ("after-restore",),
    "approve": ("accept", "enable"),
    "reject": ("refuse", "discard"),
}
"""Words that are no verb of a noun, and the verbs that it may have for them."""
PAIRS: Mapping[tuple[str, str], Sequence[str]] = {
    ("webhook", "listen"): ("listen",),
    ("webhook", "forward"): ("listen", "--forward"),
    ("events", "listen"): ("events", "follow"),
    ("events", "tail"): ("events", "follow"),
}
"""Noun and verb that are another command."""
_FIND_PAYMENT = ("list --bank TEXT", "list --trace NUMBER", "show ID")
PAIRS_MEANT: Mapping[tuple[str, str], Sequence[str]] = {
    ("payment", "find"): _FIND_PAYMENT,
    ("payment", "search"): _FIND_PAYMENT,
}
"""Noun and verb that several commands answer, with the options that matter."""


def rewrite(typed: Sequence[str], nouns: Collection[str]) -> list[str]:
    """Return what was typed with the names that commands have; the same if no other word is in it."""
    if not typed:
        return []
    first, *rest = typed
    if first == "help":
        return [*rest, "--help"]
    if first in REWRITTEN:
        return [*REWRITTEN[first], *rest]
    noun = noun_named(first, nouns)
    if noun and rest == ["help"]:
        return [noun, "--help"]
    if noun and rest and (noun, rest[0]) in PAIRS:
        return [*PAIRS[noun, rest[0]], *rest[1:]]
    return [noun or first, *rest]


def noun_named(word: str, nouns: Collection[str]) -> str:
    """Return the noun that a word is the plural or the singular of; empty if none."""
    if word in nouns:
        return word
    forms = (
        f"{word}s",
        word.removesuffix("s"),
        word.removesuffix("es"),
        f"{word.removesuffix('ies')}y",
    )
    return next((form for form in forms if form in nouns), "")


def verb_named(word: str, verbs: Collection[str]) -> str:
    """Return the verb that a word stands for; empty if it stands for none."""
    if word in verbs:
        return word
    return next((verb for verb in SAME_VERBS.get(word, ()) if verb in verbs), "")


def near(
    word: str,
    names: Collection[str],
    meant: Mapping[str, Sequence[str]],
    exists: Callable[[str], bool] = lambda _: True,
) -> list[str]:
    """Return what a word may have meant, by meaning and then by its letters."""
    lower = word.lower()
    by_meaning = [one for one in meant.get(lower, ()) if exists(one)]
    by_letters = get_close_matches(lower, names, n=2, cutoff=0.7)
    return list(dict.fromkeys([*by_meaning, *by_letters]))[:SUGGESTIONS_MAX]
