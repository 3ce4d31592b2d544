"""The table of commands; finds, loads and runs them.

A command's module has a ``typer.Typer`` named ``app``; a module with one command becomes that
command, a module with several becomes a group. Vendor commands that need only the client library
are the ``VENDOR_COMMANDS`` of a module of their own, so that they work without the server's libraries.
"""

import gc
import importlib
import os
import sys
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from textwrap import fill
from typing import Annotated, Any

import typer
from typer.completion import (  # type: ignore[attr-defined]  # not among its public names
    completion_init,
    get_completion_script,
    install,
)
from typer.core import TyperGroup

from clearlane.cli.command.client_command import OVER_SERVICE, vendor_command
from clearlane.cli.command.help_text import HelpContext
from clearlane.cli.command.other_words import (
    LIST,
    NOUNS_MEANT,
    PAIRS_MEANT,
    VERBS_MEANT,
    near,
    rewrite,
    verb_named,
)
from clearlane.cli.command.terminal import choose
from clearlane.cli.command.usage_faults import UsageError, say_plainly
from clearlane.cli.command.verbs import build_command

NAME, COMPLETE = "clearlane", "_CLEARLANE_COMPLETE"
SECTIONS = {"Commands over the service, for vendors": True, "Commands on this machine": False}
SHORT_HELP_CHARACTERS = 200
"""More than any first sentence has: it is wrapped, and never cut."""
USAGE_CHARACTERS = 79
HELP_OPTIONS = ("-h", "--help")
OUTPUT_OPTIONS = frozenset({"--wide", "--no-color"})
GARBAGE_THRESHOLD = 500_000
"""New objects before the garbage collector runs for the first time."""


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command: its module and its help text."""

    module: str
    help: str
    vendor: str = ""
    """A second module whose ``VENDOR_COMMANDS`` need the base install alone."""
    unnamed: str = ""
    """The verb that is meant if none is named: `clearlane settings` is `clearlane settings show`."""


# In the order of the help text. A module is imported when its command is called, not before:
# `clearlane --help` starts without the server's libraries.
COMMANDS: dict[str, CommandEntry] = {
    "serve": CommandEntry("installation.serve", "Run the service."),
    "worker": CommandEntry("installation.worker", "Run a worker without the API server."),
    "settings": CommandEntry(
        "installation.settings", "The effective settings: show, check.", unnamed="show"
    ),
    "log-level": CommandEntry(
        "installation.log_level_command", "Show or change what running nodes write to their logs."
    ),
    "vendor": CommandEntry("account.vendor", "Vendors and their credentials."),
    "api-key": CommandEntry("account.api_key", "API keys of vendors: scopes, sites, expiry."),
    "site": CommandEntry("account.site", "Sites (clients) of a vendor: BAA, state, time zone."),
    "console": CommandEntry("account.console_open", "Open the console of a sandbox."),
    "user": CommandEntry("account.console_user", "People who sign in to the console."),
    "instance": CommandEntry("account.instance", "Instances of proxy login."),
    "sftp": CommandEntry(
        "account.sftp_command", "Accounts, keys and host keys of the SFTP server."
    ),
    "payer": CommandEntry(
        "payer.payer",
        "Payers: those that a vendor can reach, and the directory.",
        vendor="payer.payer_client",
    ),
    "hop": CommandEntry(
        "payer.hop", "Upstream clearinghouses that serve many payers, and their payer ids."
    ),
    "route": CommandEntry("payer.route", "How payers are reached: folder, SFTP, CAQH CORE."),
    "rule": CommandEntry("payer.rule", "Claim rules, and their settings for payers and sites."),
    "codes": CommandEntry(
        "codes.codes_command", "Code lists with days: import, list, show, status, remove, try."
    ),
    "claim": CommandEntry("claim.claim", "Check, make, submit, follow and explain claims."),
    "proof": CommandEntry(
        "claim.proof_command", "Proofs of filing: check one, show the key that signs them."
    ),
    "file": CommandEntry("file.file_command", "Files: send 837s, fetch 999, 277CA and 835 files."),
    "shadow": CommandEntry(
        "file.shadow_command", "Compare shadow files with another clearinghouse's answers."
    ),
    "listen": CommandEntry("claim.listen", "Follow claim status changes live."),
    "events": CommandEntry(
        "events.events",
        "Everything that happens, in order: follow, list, trigger.",
        vendor="events.trigger",
    ),
    "webhook": CommandEntry("events.webhook", "Webhooks: receive events, and see what was sent."),
    "documents": CommandEntry("claim.documents", "Payer documents about claims."),
    "eligibility": CommandEntry(
        "eligibility.eligibility",
        "Eligibility and benefits of patients.",
        vendor="eligibility.eligibility_client",
    ),
    "enrollment": CommandEntry(
        "enrollment.enrollment",
        "Providers to be enrolled with payers.",
        vendor="enrollment.enrollment_client",
    ),
    "x12": CommandEntry("x12.x12", "Read, check, explain and convert X12 files."),
    "status": CommandEntry("doctor.status", "What flows, what waits, what needs a person."),
    "doctor": CommandEntry("doctor.doctor", "Find problems, and what to do about them."),
    "support-bundle": CommandEntry(
        "doctor.support_bundle", "Write one file for whoever helps, without patient data."
    ),
    "sandbox": CommandEntry(
        "installation.sandbox",
        "A sandbox: clock, modes of payers, two months of claims, tests, reset.",
    ),
    "batch": CommandEntry("delivery.batch", "Files to payers: list, show, resend, mark-delivered."),
    "payment": CommandEntry(
        "payment.payment",
        "Payments (835): list, show, export, assign, deposit, settle, payee, pdf.",
    ),
    "inbox": CommandEntry(
        "delivery.inbox", "Files from payers: list, show, replay, accept, discard."
    ),
    "work": CommandEntry("installation.work", "Durable work that stopped: list, release."),
    "export-undelivered": CommandEntry(
        "delivery.export_undelivered", "Write undelivered claims as 837 files."
    ),
    "call": CommandEntry("installation.call", "Find a call again by its X-Request-Id."),
    "audit": CommandEntry("installation.audit", "The audit trail: search, verify, export."),
    "keys": CommandEntry("installation.keys", "The master key: show, create, rotate."),
    "db": CommandEntry("installation.db", "The database schema: status, upgrade."),
    "retention": CommandEntry(
        "installation.retention_command",
        "How long data are kept, and what a purge removes.",
        unnamed="show",
    ),
    "hold": CommandEntry("installation.hold_command", "Legal holds on sites and claims."),
    "backup": CommandEntry("installation.backup", "Backups: write, verify.", unnamed="write"),
    "restore": CommandEntry("installation.restore", "Restore a backup and check it."),
}


@dataclass(frozen=True, slots=True)
class Completion:
    """A completion for a shell."""

    value: str
    help: str
    type: str = "plain"


class Shell(StrEnum):
    """Shells with completion."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"
    PWSH = "pwsh"


SHELLS = " or ".join([", ".join([*Shell][:-1]), Shell.PWSH])


class SectionedGroup(TyperGroup):
    """The verbs of a noun: help that separates those of vendors from those of operators, and other words for verbs."""

    context_class = HelpContext

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        verb = verb_named(args[0], self.commands)
        if not verb and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            ctx.fail(self._no_such_verb(args[0]))
        return super().resolve_command(ctx, [verb or args[0], *args[1:]])

    def _no_such_verb(self, word: str) -> str:
        shown = [name for name, one in self.commands.items() if not one.hidden]
        pair = (self.name or "", word.lower())
        if pair in PAIRS_MEANT:
            found = list(PAIRS_MEANT[pair])
        else:
            found = near(word, shown, VERBS_MEANT, self.commands.__contains__)
        verbs = fill(f"It has: {', '.join(shown)}.", USAGE_CHARACTERS, break_on_hyphens=False)
        return f"`{self.name}` has no verb {word!r}.{_perhaps(self.name or '', found)}\n{verbs}"

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        commands = [self.get_command(ctx, name) for name in self.list_commands(ctx)]
        shown = [one for one in commands if one is not None and not one.hidden]
        vendors = [one for one in shown if getattr(one.callback, OVER_SERVICE, False)]
        operators = [one for one in shown if one not in vendors]
        parts = {
            title: vendors if of_vendors else operators for title, of_vendors in SECTIONS.items()
        }
        for title, part in (parts if vendors and operators else {"Commands": shown}).items():
            rows = [(one.name, one.get_short_help_str(limit=SHORT_HELP_CHARACTERS)) for one in part]
            with formatter.section(title):
                formatter.write_dl(rows)


class CommandGroup(TyperGroup):
    """A group that imports a command's module when it is called."""

    context_class = HelpContext

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        # The options of the output work in any position: `clearlane payment list --wide`.
        end = args.index("--") if "--" in args else len(args)
        given = [one for one in args[:end] if one in OUTPUT_OPTIONS]
        rest = [one for one in args[:end] if one not in OUTPUT_OPTIONS]
        named = rewrite(rest, COMMANDS)
        if rest and named and self._asks_for_list(rest[0], named):
            named.insert(1, LIST)
        if named and (verb := self.unnamed_verb(*named)):
            named.insert(1, verb)
        return list(super().parse_args(ctx, [*given, *named, *args[end:]]))

    def invoke(self, ctx: Any) -> Any:
        """Run a command; what is wrong with its words is said in ours."""
        try:
            return super().invoke(ctx)
        except UsageError as fault:
            raise say_plainly(fault) from None

    def _asks_for_list(self, typed: str, named: list[str]) -> bool:
        """Return whether a plural stands alone: `clearlane claims --payer TST01`."""
        noun, *rest = named
        is_plural = noun in COMMANDS and typed != noun and typed.endswith("s")
        if not is_plural or (rest and (rest[0] in HELP_OPTIONS or not rest[0].startswith("-"))):
            return False
        return LIST in getattr(self.get_command(None, noun), "commands", {})

    def unnamed_verb(self, noun: str, *rest: str) -> str:
        """Return the verb that a noun has if none is named; empty if one is, or might be."""
        entry = COMMANDS.get(noun)
        if entry is None or not entry.unnamed or (rest and rest[0] in HELP_OPTIONS):
            return ""
        verbs = self.get_command(None, noun).commands
        takes_word = any(one.param_type_name == "argument" for one in verbs[entry.unnamed].params)
        is_verb = bool(rest) and not rest[0].startswith("-") and not takes_word
        return "" if is_verb or (rest and verb_named(rest[0], verbs)) else entry.unnamed

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            found = near(args[0], COMMANDS, NOUNS_MEANT)
            said = f"There is no command {args[0]!r}.{_perhaps('', found)}"
            ctx.fail(f"{said}\n`clearlane --help` lists all commands.")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        return _command(cmd_name, entry)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        # From the table: a shell that asks for names must not wait for the server's libraries.
        if incomplete.startswith("-"):
            return list(super().shell_complete(ctx, incomplete))
        found = COMMANDS.items()
        return [Completion(n, entry.help) for n, entry in found if n.startswith(incomplete)]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])


def _perhaps(noun: str, found: list[str]) -> str:
    """Return suggestions, a line each; empty without any."""
    lines = [" ".join(filter(None, ("  clearlane", noun, one))) for one in found]
    return "\n".join([" Perhaps:", *lines]) if lines else ""


@cache
def _command(name: str, entry: CommandEntry) -> Any:
    """Return a command, built once."""
    command = build_command(_load(entry))
    command.name = name
    return command


@cache
def _load(entry: CommandEntry) -> typer.Typer:
    """Return the app of a command, with its vendor commands added."""
    if not entry.vendor:
        return _app(entry.module)
    try:
        app = _app(entry.module)
    except ModuleNotFoundError as missing:
        own = f"clearlane.cli.{entry.module}"
        if (missing.name or "").startswith("clearlane") and missing.name != own:
            raise
        app = _vendor_group(entry)
    for command in importlib.import_module(f"clearlane.cli.{entry.vendor}").VENDOR_COMMANDS:
        vendor_command(app)(command)
    return app


def _app(module: str) -> typer.Typer:
    found: typer.Typer = importlib.import_module(f"clearlane.cli.{module}").app
    found.rich_markup_mode = None  # the same plain help for all commands, which can be copied
    found.info.cls = SectionedGroup
    found.info.no_args_is_help = True
    return found


def _vendor_group(entry: CommandEntry) -> typer.Typer:
    """Return a group for the base install; any other command raises for the missing package."""

    class _VendorGroup(SectionedGroup):
        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            found = super().get_command(ctx, cmd_name)
            if found is None and not ctx.resilient_parsing:
                _app(entry.module)
            return found

    part = typer.Typer(
        cls=_VendorGroup,
        help=entry.help,
        add_completion=False,
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    part.callback(help=entry.help)(lambda: None)  # a group, however few commands it has
    return part


app = typer.Typer(
    cls=CommandGroup,
    add_completion=False,  # our own options name the shell, and so work if none can be seen
    rich_markup_mode=None,
    # A decorated traceback would show what variables hold, and that can be patient data.
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": [*HELP_OPTIONS]},
    no_args_is_help=True,
)


def _version(wanted: bool) -> None:
    if wanted:
        from clearlane.kernel.build_commit import version_text

        typer.echo(f"clearlane {version_text()}")
        raise typer.Exit


def _show_completion(shell: Shell | None) -> None:
    if shell:
        script = get_completion_script(prog_name=NAME, complete_var=COMPLETE, shell=shell)
        typer.echo(script)
        raise typer.Exit


def _install_completion(shell: Shell | None) -> None:
    if shell:
        _, path = install(shell=shell, prog_name=NAME, complete_var=COMPLETE)
        typer.echo(f"Completion for {shell} is in {path}; a new terminal has it.")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show version and commit, and exit.", callback=_version, is_eager=True
        ),
    ] = False,
    show_completion: Annotated[
        Shell | None,
        typer.Option(
            metavar="SHELL",
            help=f"Print the completion script of a shell: {SHELLS}.",
            callback=_show_completion,
            is_eager=True,
        ),
    ] = None,
    install_completion: Annotated[
        Shell | None,
        typer.Option(
            metavar="SHELL",
            help="Install completion for a shell.",
            callback=_install_completion,
            is_eager=True,
        ),
    ] = None,
    wide: Annotated[
        bool, typer.Option("--wide", help="Every column of a table, however wide. On any command.")
    ] = False,
    no_color: Annotated[
        bool, typer.Option("--no-color", help="No colors, as with NO_COLOR. On any command.")
    ] = False,
) -> None:
    """Clearlane, the clearinghouse anyone can run.

    A first look: `clearlane serve --data .data`, then in another terminal `clearlane doctor`,
    `clearlane claim sample | clearlane claim submit -` and `clearlane listen`.
    """
    choose(wide=wide, plain=no_color, reset=True)


def main() -> None:
    """Run the command line."""
    gc.set_threshold(GARBAGE_THRESHOLD)  # imports make many objects and no garbage
    # Nothing that is installed beside us looks into the models of claims, and no process searches for what would.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        completion_init()
        app(prog_name=NAME)
    except BrokenPipeError:
        sys.exit(0)
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("clearlane"):
            raise
        typer.echo(
            f"This command needs the package {missing.name!r}, which is not installed. "
            "Install the server with: pip install 'clearlane[server]'",
            err=True,
        )
        sys.exit(1)
    finally:
        # The interpreter collects garbage several times when it ends; nothing is left of use in a quarter of a million
        # objects of imported libraries, and looking them through took a fifth of a command's CPU.
        gc.freeze()
