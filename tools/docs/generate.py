"""Write the reference pages, the alert rules and the pictures from the tables of the product.

``make docs`` writes them; a test fails when a page and its table disagree. Each page is one function,
one row of PAGES; those about calls, states and the client are in modules of their own, as the pictures do.
"""

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command

from tools.docs import dashboard, interface, library, licenses, monitoring, sandbox_pages, states
from tools.docs.markdown import grid
from tools.docs.pictures import DRAWN, PICTURES

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PLACES_SHOWN_MAX = 4
SAMPLE_DAY = date(2026, 1, 15)
NOTE = "<!-- Written by `make docs` from the product's tables. Do not edit. -->"


def settings_page() -> Iterator[str]:
    """Write every setting."""
    from clearlane.settings import FILE_NAME, all_settings, environment_variable

    yield "# Settings"
    yield ""
    yield (
        f"Each setting is read from its environment variable, or from `{FILE_NAME}` in the working "
        "directory (another place: `CLEARLANE_CONFIG`), where it has the lower-case name in the first "
        "column. `clearlane settings` shows the effective values. An unknown or bad setting stops the "
        "start with a sentence that names it; `clearlane settings check` names every one without a start."
    )
    yield ""
    yield (
        "A secret need not be in the environment: `CLEARLANE_DATABASE_URL_FILE` names a file that holds it, and so does the "
        "variable of each other secret with `_FILE`. Under systemd, `LoadCredential=clearlane.database_url:/path` gives it to "
        "the service alone. The environment comes before credentials, and these before the settings file."
    )
    yield ""
    rows: list[list[object]] = []
    for name, default, row in all_settings():
        shown = ",".join(default) if isinstance(default, tuple) else default
        rows.append(
            [
                f"`{name}`",
                f"`{environment_variable(name)}`",
                "" if shown == "" else f"`{shown}`",
                row.help + (" Secret: never shown." if row.secret else ""),
            ]
        )
    yield from grid(["Setting", "Environment", "Default", "What it does"], rows)


def commands_page() -> Iterator[str]:
    """Write the help text of every command."""
    from clearlane.cli.command.root import app

    yield "# Commands"
    yield ""
    yield "What `--help` says, command by command."
    for path, command, context in walk(get_command(app), "clearlane", None):
        yield ""
        yield f"## {path}"
        yield ""
        yield "```text"
        yield from plain_help(path, command, context)
        yield "```"


def plain_help(path: str, command: Any, context: Any) -> Iterator[str]:
    """Return usage, text and options without terminal decoration."""
    from clearlane.cli.command.help_text import plain_usage

    yield f"Usage: {path} {plain_usage(' '.join(command.collect_usage_pieces(context)))}"
    if command.help:
        yield ""
        formatter = context.make_formatter()
        formatter.write_text(inspect.cleandoc(command.help))
        yield from formatter.getvalue().strip().splitlines()
    rows = [
        record for item in command.get_params(context) if (record := item.get_help_record(context))
    ]
    if rows:
        formatter = context.make_formatter()
        with formatter.section("Options"):
            formatter.write_dl(rows)
        yield from ("\n" + formatter.getvalue()).rstrip().splitlines()


def walk(command: Any, path: str, parent: Any) -> Iterator[tuple[str, Any, Any]]:
    """Return a command and all its subcommands, each with a context."""
    with command.make_context(
        path, [], parent, resilient_parsing=True, max_content_width=88
    ) as context:
        context.terminal_width = 88
        yield path, command, context
        if isinstance(command, TyperGroup):
            for name in command.list_commands(context):
                yield from walk(command.get_command(context, name), f"{path} {name}", context)


def guides_page() -> Iterator[str]:
    """Write every guide: its loops and segments, and how each is used."""
    from clearlane.x12 import grammar, guides

    yield "# X12 guides"
    yield ""
    yield (
        "What the engine reads, writes and checks. `R` is required, `S` situational; the number is how "
        "often a part may repeat in its place (no number: without limit)."
    )

    def tree(loop: grammar.LoopSpec, depth: int) -> Iterator[str]:
        pad = "  " * depth
        yield f"{pad}{loop.id} {loop.name} ({loop.usage}{loop.repeat or ''})"
        for child in loop.children:
            if isinstance(child, grammar.LoopSpec):
                yield from tree(child, depth + 1)
            else:
                codes = "|".join(child.qualifiers)
                label = f"{child.id}:{codes}" if codes else child.id
                yield f"{pad}  {label} {child.name} ({child.usage}{child.repeat or ''})"

    for guide in map(guides.by_kind, guides.KINDS):
        yield ""
        yield f"## {guide.kind} {guide.id}"
        yield ""
        others = guide.all_ids[1:]
        names = f" Also read: {', '.join(others)}." if others else ""
        yield f"{guide.name}.{names}"
        yield ""
        yield "```text"
        yield from tree(guide.root, 0)
        yield "```"


def file_rules_page() -> Iterator[str]:
    """Write every finding that the X12 checker can make."""
    from clearlane.claims.forms.x12_form import FORMS_BY_TRANSACTION
    from clearlane.claims.rules import RULES
    from clearlane.claims.rules.file_findings import applies_to_files
    from clearlane.x12 import guides, rules
    from clearlane.x12.checker import finding_catalogue

    yield "# Findings about X12 files"
    yield ""
    yield "`clearlane x12 check` names these. An error breaks the file; a warning is what a payer may refuse."
    yield ""
    yield "## Found by the engine"
    yield ""
    rows: list[list[object]] = [
        [f"`{name}`", fault.severity, fault.snip, fault.sentence]
        for name, fault in finding_catalogue.FINDING_TYPES.items()
    ]
    yield from grid(["Rule", "Severity", "SNIP", "What would pass"], rows)
    yield ""
    yield "## Found by rules over several segments"
    yield ""
    for kind in guides.KINDS:  # asking for the rules of a guide is what loads them
        rules.rules_for(kind, rules.SET)
    every = rules.RULES
    rows = [
        [
            f"`{rule.id}`",
            rule.severity,
            rule.snip,
            ", ".join(rule.kinds),
            rule.sentence,
            f"section {rule.section}"
            if rule.section
            else ", ".join(f"`{one}`" for one in rule.places),
        ]
        for rule in sorted(every.values(), key=lambda rule: rule.id)
    ]
    yield from grid(
        ["Rule", "Severity", "SNIP", "Guides", "What must be true", "Stated in the guide at"], rows
    )
    yield ""
    yield "## Found by claim rules"
    yield ""
    yield (
        "Each claim of an 837 is also checked by these [claim rules](claim-rules.md). They need nothing from outside "
        "the claim: no payer directory, no enrollment, no earlier claim. Their sentences may quote values of the "
        "file. If such a rule and an X12 rule that it covers find the same, only the claim rule's finding is shown."
    )
    yield ""
    rows = []
    for claim_rule in RULES.values():
        forms = FORMS_BY_TRANSACTION.items()
        applied = [name for name, form in forms if applies_to_files(claim_rule, form)]
        if applied:
            covered = ", ".join(f"`{id}`" for id in claim_rule.covers)
            own = [f"`{claim_rule.id}`", claim_rule.severity, ", ".join(applied), covered]
            rows.append([*own, claim_rule.sentence])
    yield from grid(["Rule", "Severity", "Guides", "Covers", "What must be true"], rows)
    yield ""
    yield "These claim rules are not applied to files:"
    yield ""
    rows = [[f"`{rule.id}`", rule.not_in_files] for rule in RULES.values() if rule.not_in_files]
    yield from grid(["Rule", "Why"], rows)


def fields_page() -> Iterator[str]:
    """Write every field of a claim and its place."""
    from clearlane.claims.fields import fields_of, nested_parts
    from clearlane.claims.forms import FORMS
    from clearlane.claims.kinds import KINDS

    yield "# Claim fields"
    yield ""
    yield (
        "Names are those of the interface, spelling included; those of institutional claims are by form locator "
        "(`FL42_RevenueCode`). The box is that of the paper form; the place is "
        "the field's place in the 837. A field without a place is kept and never sent, for the reason given. Fields "
        "marked *own* are Clearlane's, beside those of the interface: an 837 needs them, and nothing may be guessed."
    )
    for form in FORMS.values():
        sent = _sent(form)
        kind = KINDS[form.kind].label
        groups = [(f"{kind} claim", form.claim), (f"{kind} line", form.line)]
        parts = [form.claim]
        for part in parts:
            parts += [one for one in nested_parts(part).values() if one not in parts]
        inner = [part for part in parts if part not in (form.claim, form.line)]
        groups += [(part.__name__.removeprefix(kind), part) for part in inner]
        for title, part in groups:
            yield ""
            yield f"## {title}"
            yield ""
            table: list[list[object]] = [
                [
                    f"`{row.name}`",
                    f"{row.label} *(own)*" if row.own else row.label,
                    row.box,
                    row.value_type,
                    row.max_length or "",
                    "yes" if row.required else row.required_when,
                    f"[{row.codes}](#{row.codes.replace('_', '-')})" if row.codes else "",
                    sent.get(row.name, ""),
                ]
                for row in fields_of(part).values()
            ]
            head = [
                "Field",
                "What it is",
                f"{form.form_name} box",
                "Kind",
                "Longest",
                "Required",
                "Codes",
                "In the 837",
            ]
            yield from grid(head, table)
    yield from _code_lists()


def _sent(form: Any) -> dict[str, str]:
    """Return the place of each field, or why it is not sent."""
    from clearlane.claims.responses.field_lookup import field_places

    found: dict[str, list[str]] = {}
    for place in field_places(form):
        name = place.name.rpartition(".")[2].partition("[")[0]
        if place.place not in found.setdefault(name, []):
            found[name].append(place.place)
    sent = {
        name: ", ".join(f"`{text}`" for text in texts[:PLACES_SHOWN_MAX])
        for name, texts in found.items()
    }
    return sent | {name: f"Not sent: {reason}" for name, reason in form.placements.not_sent.items()}


def samples_page() -> Iterator[str]:
    """Write the minimal and the extended document of each kind."""
    from clearlane.claims.forms import FORMS, samples

    yield "# Sample documents"
    yield ""
    yield (
        "Made from the catalogue, accepted by the sandbox. `clearlane claim sample [--kind dental] [--full]` makes "
        "them with a day of service that is not old."
    )
    for form in FORMS.values():
        for full in (False, True):
            yield ""
            yield f"## {form.document_type}, {'extended' if full else 'minimal'}"
            yield ""
            yield "```json"
            yield json.dumps(
                samples.document(form, day=SAMPLE_DAY, full=full), indent=2, default=str
            )
            yield "```"


def _code_lists() -> Iterator[str]:
    from clearlane.claims import codes

    yield ""
    yield "## Codes"
    yield ""
    yield "Each value may be given as its code or by one of its names, in any case."
    for name in codes.LISTS:
        yield ""
        yield f"### {name.replace('_', ' ')}"
        yield ""
        yield from grid(
            ["Code", "Meaning"],
            [[f"`{code}`", meaning] for code, meaning in codes.accepted_meanings(name).items()],
        )


def claim_rules_page() -> Iterator[str]:
    """Write every rule that a claim is checked by."""
    from clearlane.claims.responses.rule_status import source_of, status_of
    from clearlane.claims.rules import RULES
    from tools.docs.rule_examples import example_of

    yield "# Claim rules"
    yield ""
    yield "An error makes a claim `NotAccepted`; a warning is recorded with it."
    yield ""
    table: list[list[object]] = []
    for rule in RULES.values():
        boxes = "; ".join(
            f"{form.kind}: {', '.join(found)}" for form in rule.forms if (found := rule.boxes(form))
        )
        table.append(
            [
                f"`{rule.id}`",
                rule.severity,
                ", ".join(rule.kinds),
                rule.sentence,
                boxes,
                rule.x12,
            ]
        )
    yield from grid(["Rule", "Severity", "Claims", "What must be true", "Boxes", "X12"], table)
    yield ""
    yield "## Examples and acknowledgements"
    yield ""
    yield (
        "Each example is a sample claim with the fields shown, for a service on 2025-03-14 and today 2025-03-20 if it does not "
        "say otherwise; a test sends every one of them. A rule that only files can "
        "break shows what is changed in a file. The last column is how a 277CA would state the finding: category, status "
        "code and entity. Without an entity it concerns the claim, or the person or provider that the finding names."
    )
    yield ""
    table = []
    for rule in RULES.values():
        status = status_of(rule)
        stated = " ".join(filter(None, status)) if status else "none"
        table.append([f"`{rule.id}`", source_of(rule), *example_of(rule.id), stated])
    yield from grid(["Rule", "Where it comes from", "Fails", "Passes", "277CA"], table)


def bill_types_page() -> Iterator[str]:
    """Write the types of bill, and what depends on them."""
    from clearlane.claims.rules.institutional.bill_types import BILL_TYPES, USAGES, Usage

    yield "# Types of bill"
    yield ""
    yield (
        "The type of bill of an institutional claim (837I) is a facility and a classification (CLM05-1), with the frequency of "
        "the claim (CLM05-3) as its third character. Numbers are those of the National Uniform Billing Committee, words are "
        "our own. [Claim rules](claim-rules.md) whose names begin with I check what depends on it."
    )
    yield ""
    yield from grid(["Type", "Bill"], [[f"`{code}`", words] for code, words in BILL_TYPES.items()])
    yield ""
    yield "## What depends on the type"
    yield ""
    yield "An element is required, or not part of a bill; with the types that are not named it is allowed."
    yield ""
    rows = [
        [element.value.capitalize(), *(_types(usages, one) for one in (Usage.REQUIRED, Usage.NOT))]
        for element, usages in USAGES.items()
    ]
    yield from grid(["Element", "Required", "Not"], rows)


def _types(usages: Mapping[str, str], wanted: str) -> str:
    """Return the types of bill with a usage; the others if these are fewer."""
    found = [code for code, usage in usages.items() if usage == wanted]
    others = [code for code in usages if code not in found]
    if found and len(others) < len(found):
        return f"all but {', '.join(others)}" if others else "all"
    return ", ".join(found)


def calls_page() -> Iterator[str]:
    """Write every call that is served."""
    from clearlane.api.v3.endpoints import ENDPOINTS

    yield "# Calls"
    yield ""
    yield (
        "All are POST, with `Authorization: Basic` and the query parameter `vendorSiteId`. The running "
        "service shows the same table with schemas at `/reference` and as OpenAPI 3.1 at `/openapi.json`."
    )
    yield ""
    rows: list[list[object]] = [
        [
            row.name,
            f"`{row.path}`",
            row.summary,
            ", ".join(f"`{parameter.name}`" for parameter in row.parameters),
            "yes" if row.touches_phi else "no",
        ]
        for row in ENDPOINTS
    ]
    yield from grid(["Call", "Path", "What it does", "Parameters", "Needs a BAA"], rows)


def sandbox_page() -> Iterator[str]:
    """Write the payers of a sandbox and how its clock is moved."""
    from clearlane.api.sandbox_endpoints import sandbox_endpoints
    from clearlane.api.v3.error_responses import V3_ERRORS

    yield from sandbox_pages.scenarios_page()
    yield ""
    yield "## Moving time and payers"
    yield ""
    yield (
        "`clearlane sandbox clock`, `sandbox advance` and `sandbox payer` speak to the running service over https. A "
        "program can do the same, with the credentials and `vendorSiteId` of every other call. An advance answers when "
        "everything that is due then has been posted, so a test can say: advance, then look. It passes over the "
        "days between, so what follows from an answer happens on its day. On a production installation there are no "
        "such paths."
    )
    yield ""
    rows: list[list[object]] = [
        [" ".join(row.verbs), f"`{row.path}`", row.summary, f"`{_BODIES[row.name]}`"]
        for row in sandbox_endpoints(V3_ERRORS)
    ]
    yield from grid(["Verb", "Path", "What it does", "Body of a POST"], rows)
    yield ""
    yield "```sh"
    yield "clearlane sandbox clock --freeze"
    yield "clearlane claim sample | clearlane claim submit -"
    yield "clearlane sandbox advance 14d"
    yield "clearlane claim status"
    yield "clearlane sandbox clock --unfreeze"
    yield "```"
    yield ""
    yield (
        "Afterward the sandbox is two weeks ahead: the service says its time in the header `X-Service-Time`, the tools use "
        "it, and `clearlane doctor` says how far ahead it is. `clearlane sandbox reset` empties the sandbox and sets its "
        "clock to real time; keys, vendors, sites and passwords stay."
    )


_BODIES = {
    "SandboxClock": '{"Frozen": true, "SecondsPerDay": 2}',
    "SandboxAdvance": '{"By": "14d"}',
    "SandboxPayers": '{"PayerId": "TST01", "Mode": "down"}',
}


def code_files_page() -> Iterator[str]:
    """Write which file of each code list is read."""
    from clearlane.code_files.content import MEGABYTE
    from clearlane.code_files.readers import READERS

    yield "# Files of code lists"
    yield ""
    yield (
        "Which lists of codes can be imported, and which file of its publisher each is read from: the file itself, or the "
        "publisher's zip with it. Clearlane fetches none of them. A text is in UTF-8, or in Windows-1252 if the publisher writes "
        "that. A file of another kind, a truncated one, one over its limit and a zip that unpacks to more than 100 times "
        "its size are refused with the line, what was expected there and what was found."
    )
    yield ""
    rows: list[list[object]] = [
        [
            f"`{reader.name}`",
            reader.title,
            reader.publisher,
            reader.file,
            f"`{reader.example}`",
            f"{reader.bytes_max // MEGABYTE:,} MB",
        ]
        for reader in READERS.values()
    ]
    yield from grid(["List", "Codes", "Publisher", "File", "Example", "At most"], rows)


PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "settings.md": settings_page,
    "commands.md": commands_page,
    "calls.md": calls_page,
    "answers.md": interface.answers_page,
    "clearlane-v1.md": interface.own_api_page,
    "errors.md": interface.errors_page,
    "states.md": states.states_page,
    "client.md": library.client_page,
    "eligibility-fields.md": interface.eligibility_fields_page,
    "enrollment-fields.md": interface.enrollment_fields_page,
    "conditions.md": monitoring.conditions_page,
    "metrics.md": monitoring.metrics_page,
    "sandbox.md": sandbox_page,
    "sandbox-members.md": sandbox_pages.members_page,
    "claim-fields.md": fields_page,
    "claim-rules.md": claim_rules_page,
    "bill-types.md": bill_types_page,
    "claim-samples.md": samples_page,
    "code-files.md": code_files_page,
    "licenses.md": licenses.licenses_page,
    "x12-guides.md": guides_page,
    "x12-findings.md": file_rules_page,
}


def text_of(page: str) -> str:
    """Return the whole text of a page."""
    return "\n".join([NOTE, "", *PAGES[page]()]) + "\n"


def main() -> None:
    REFERENCE.mkdir(exist_ok=True)
    for page in PAGES:
        (REFERENCE / page).write_text(text_of(page), encoding="utf-8")
        print(f"wrote docs/reference/{page}")
    from tools.docs import rule_examples

    rule_examples.TARGET.write_text(rule_examples.examples_text(), encoding="utf-8")
    print("wrote the examples of claim rules")
    monitoring.RULES.write_text(monitoring.alert_rules(), encoding="utf-8")
    print("wrote deploy/clearlane.rules.yml")
    dashboard.DASHBOARD.write_text(dashboard.dashboard_text(), encoding="utf-8")
    print("wrote deploy/grafana.json")
    PICTURES.mkdir(exist_ok=True)
    for picture, draw in DRAWN.items():
        (PICTURES / picture).write_text(draw(), encoding="utf-8")
        print(f"wrote docs/pictures/{picture}")


if __name__ == "__main__":
    main()
