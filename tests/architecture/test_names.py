"""Names are plain words of the trade, and each means one thing (docs/glossary.md)."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.architecture.source import ROOT, SOURCE, nodes_of, python_files

# Packages that stand alone: the vendor's library and the simulated payers share no types with the rest.
ALONE = {"client", "sandbox"}

# Metaphors and pronouns, as whole words of module, class and function names: a reader cannot guess them.
BANNED = frozenset(
    """
    house room rooms floor desk counter door doors paper shelf shelves lane lanes cable cables story stories
    sheaf rush turns clipping clippings purse playground manner whence told heard stood settled looked
    standing standings ours
    """.split()  # noqa: SIM905
)

# Those that stand nowhere at all: not in the name of a variable or a test, a comment, a message or a page.
NOWHERE = ("house", "room", "floor", "desk", "lane", "cable", "told", "heard", "standing")
# As whole words, in small letters or with one capital: data of X12 files is in capitals.
IN_TEXT = re.compile(
    rf"(?<![\w-])(?:{'|'.join(f'[{word[0].upper()}{word[0]}]{word[1:]}s?' for word in NOWHERE)})(?![\w-])"
)
V3_NAMES = {"PreviousClearingHouse"}
TEXT_ENDINGS = {".css", ".html", ".js", ".md", ".py", ".toml", ".yaml", ".yml"}
TEXTS = ("src", "docs", "deploy", "examples", "bench", "tools", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "SUPPORT.md", "CODE_OF_CONDUCT.md")  # fmt: skip
# Texts of code lists, and streets where somebody invented lives.
NO_METAPHOR = re.compile(r"Emergency room|\d+ (?:\w+ )?Lane|7 OAK LANE")

# Phrases that an American technical writer would not use, each with what to write instead.
INSTEAD = {
    r"anew": "again, or a verb with re-",
    r"[Mm]eanwhile": "since, first, in between",
    r"[Ss]o (?:many|often) (?!that\b)": "a number, with its unit",
    r"(?:[Ss]ome|[Nn]o|[Ee]very|[Aa]ny)body": "someone, no one, a person; needs attention",
    r"(?:[Nn]one|[Ee]mpty|[Nn]ull|True|False|nothing|zero|0|also|[Rr]aises?|Error`?) where": "if",
    r"[Ww]here (?:there (?:is|are|was|were) (?:no|none)|left out|it is (?:missing|not))": "if",
    r"[Kk]nows nothing of|[Nn]othing of (?:it|its|them|the|this|these|a|an)": "does not know; none of it",
    r"stands? (?:in|at|on|before|behind|beside|below|above|first|there)": "is, comes, is shown",
    r"(?:is|are) no (?:X12|JSON|UTF|CSV)": "is not",
    r"such a one|[Ww]hence|[Hh]erein|[Tt]herein|[Tt]hereof|[Ww]hereof|[Ll]est": "a plain word",
    r"(?:[Bb]y|[Ii]ts|[Tt]heir|[Ee]arlier) request ids?": "claim number: a request id is an HTTP request's",
}
ACCENT = re.compile(rf"\b(?:{'|'.join(INSTEAD)})\b")
# Sentences of V3 stay as vendors know them.
CONTRACT = re.compile(r"The payer's answer is no X12")
# Parts of British spellings.
BRITISH = (
    "anaesth", "authoris", "behaviour", "cancelled", "colour", "defence", "favour", "finalis", "haema", "haemo",
    "hospitalis", "immunis", "instalment", "itemis", "learnt", "licence", "litres", "neighbour", "normalis",
    "organisation", "paediatr", "recognis", "serialis", "summaris", "utilis",
)  # fmt: skip
# Callers may use them, as do libraries.
READ_FROM_OTHERS = re.compile(
    r"\|Haem|\|Organisation\||\"organisation\": \"2\"|`Organisation`|CANCELLED|\.cancelled\(|CancelledError"
)

# Public class names that stand in two modules, each with its reason. Under 3 % of all names.
SAME_CLASS_NAME: dict[str, str] = {}

# Module names that stand in two packages because they mean the same thing in their layer.
ROWS = "the rows of what the other module defines"
FACE = "a face (api, cli, console) on what the other module does"
SAME_MODULE_NAME: dict[str, str] = {
    "__init__": "Python's own name",
    "__main__": "Python's own name",
    "acks": "acknowledgements: read into facts in claims, checked as files in x12/rules",
    "app": "the ASGI application of api and of console",
    "audit": FACE,
    "backup": FACE,
    "claim_history": ROWS,
    "claim_payment_groups": ROWS,
    "claim_status": "a claim's status: the value in claims, its computation in pipeline",
    "claim_label": "the labels of claims: their table in kernel, which one a claim has in pipeline",
    "claim_filters": "the filters of claims: their table in claims, their conditions in pipeline, their form in console",
    "claim_ids": "vendors' claim ids: their rows, and how a command names a claim by one",
    "claims": "claims, in each layer: calls, rows, checks of 837 sets, views of 837 sets",
    "decode": "JSON of a call to the values of its domain, with findings",
    "dental": "dental claims: their form, and the rules of their own",
    "directory": "a snapshot for fast look-ups: of accounts, of payers",
    "events": "events, in each layer: calls, commands, rows, schema",
    "documents": "payer documents, in each layer: their shape in V3, their rows, the commands",
    "eligibility": "eligibility, in each layer: calls, commands, rows, schema, checks of 270 and 271",
    "enrollment": "enrollment, in each layer: calls, commands, schema",
    "explain": "codes of payers in words: of acknowledgements in claims, of adjustments in payments",
    "facts": ROWS,
    "endpoints": "the table of an API version",
    "files": "files of sites: calls, schema",
    "fields": "the catalogue of a domain's fields",
    "finding": "a claim's finding is the kernel's with its field",
    "inbox": FACE,
    "api_keys": "API keys: their values in accounts, their rows and schema in store",
    "instances": ROWS,
    "keys": FACE,
    "lifecycle": "the table of states and events",
    "match": "find the record that somebody means: a payer by name, a claim by a response",
    "model": "the value types of a domain",
    "payer": "the payer: rules about it in claims, commands about it in cli",
    "payers": "payers, in each layer: calls, commands, rows",
    "payment": "a payment: its values in payments, the commands about it in cli",
    "payments": "payments, in each layer: rows, schema, queries",
    "placement": "field to place: the engine in x12, the claim's use of it in claims",
    "proofs": "proofs of filing: calls, schema",
    "proxy_login": FACE,
    "recovery_codes": "recovery codes: made and read in accounts, their rows and schema in store",
    "remittance": "835 sets: their checks in x12/rules, their views in x12/views",
    "routes": ROWS,
    "rules": "the rules of a domain that needs only one module for them",
    "samples": "examples that ship with the product",
    "sandbox": "the sandbox: its commands in cli, the rows of its simulated payers in store",
    "services": "health care services: rules about those billed, names of those asked about",
    "rule_settings": ROWS,
    "settings": FACE,
    "status": "claim status: V3's call, checks of 276 and 277 sets, views of them",
    "stored_counts": ROWS,
    "webhooks": "webhook endpoints, in each layer: calls, rows, schema",
}
SAME_CLASS_NAMES_MAX_RATIO = 0.03


@cache
def modules() -> dict[str, tuple[ast.AST, ...]]:
    """Return the nodes of every module but the migrations, by path."""
    return {
        str(file.relative_to(SOURCE)): nodes_of(file)
        for file in python_files(SOURCE)
        if "migrations" not in file.parts
    }


@cache
def public_classes() -> dict[str, set[str]]:
    homes: dict[str, set[str]] = defaultdict(set)
    for name, nodes in modules().items():
        if name.split("/")[0] in ALONE:
            continue
        for node in nodes:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].add(name)
    return homes


def words_of(name: str) -> list[str]:
    return re.findall(r"[a-z]+", re.sub(r"([A-Z])", r"_\1", name).lower())


def test_a_public_class_name_stands_in_one_module():
    twice = {name: sorted(homes) for name, homes in public_classes().items() if len(homes) > 1}
    assert twice.keys() == SAME_CLASS_NAME.keys(), twice
    assert len(twice) < SAME_CLASS_NAMES_MAX_RATIO * len(public_classes())


def test_a_module_name_in_two_packages_means_the_same_in_both():
    homes: dict[str, list[str]] = defaultdict(list)
    for name in modules():
        if name.split("/")[0] not in ALONE:
            homes[Path(name).stem].append(name)
    twice = {name: files for name, files in homes.items() if len(files) > 1}
    assert twice.keys() == SAME_MODULE_NAME.keys(), {
        name: twice.get(name) for name in twice.keys() ^ SAME_MODULE_NAME.keys()
    }


def test_no_name_uses_a_word_that_says_nothing():
    found = []
    for name, nodes in modules().items():
        found += [f"{name}: module" for word in words_of(Path(name).stem) if word in BANNED]
        for node in nodes:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                found += [
                    f"{name}:{node.lineno}: {node.name}"
                    for word in words_of(node.name)
                    if word in BANNED
                ]
    assert not found, "\n".join(found)


def defined_names(file: Path) -> Iterator[tuple[int, str]]:
    """Yield every name that a module gives to something, with its line."""
    for node in nodes_of(file):
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                yield node.lineno, name
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name


def may_use_metaphor(file: Path) -> bool:
    """Return whether a word of the list stands anywhere in a file: only then its names are read."""
    text = file.read_text(encoding="utf-8").lower().replace("clearlane", "")
    return any(word in text for word in NOWHERE)


def test_no_name_however_local_uses_a_metaphor_of_the_list():
    found = [
        f"{file.relative_to(ROOT)}:{line}: {name}"
        for folder in ("src", "tests", "bench", "tools")
        for file in python_files(ROOT / folder)
        if may_use_metaphor(file)
        for line, name in defined_names(file)
        if name not in V3_NAMES and not set(words_of(name)).isdisjoint(NOWHERE)
    ]
    assert not found, "\n".join(found)


def text_files() -> Iterator[Path]:
    for name in TEXTS:
        place = ROOT / name
        for file in [place] if place.is_file() else sorted(place.rglob("*")):
            # What `make docs` builds is made by others.
            if file.suffix in TEXT_ENDINGS and not {"site", "viewer"} & set(file.parts):
                yield file


def test_no_text_uses_a_metaphor_of_the_list():
    found = [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()}"
        for file in text_files()
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if IN_TEXT.search(NO_METAPHOR.sub("", line))
    ]
    assert not found, "\n".join(found)


def test_no_text_uses_a_phrase_of_the_accent():
    found = [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()}"
        for file in text_files()
        if ACCENT.search(text := file.read_text(encoding="utf-8"))
        for number, line in enumerate(text.splitlines(), 1)
        if ACCENT.search(CONTRACT.sub("", line))
    ]
    assert not found, "\n".join([*found, "Instead:", *INSTEAD.values()])


def is_british(text: str) -> bool:
    lowered = text.lower()
    return any(part in lowered for part in BRITISH)


def test_no_text_has_a_british_spelling():
    found = [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()}"
        for file in [*text_files(), *sorted(SOURCE.rglob("*.txt"))]
        if is_british(text := file.read_text(encoding="utf-8"))
        for number, line in enumerate(text.splitlines(), 1)
        if is_british(READ_FROM_OTHERS.sub("", line))
    ]
    assert not found, "\n".join(found)
