"""Register a fourth form of claims by rows of two tables, and send a claim of it to an installation.

Its fields have names of its own. Its placements would be a module of the form: nothing is written here.

Run as a program, ``python -m tests.claims.fourth_form FOLDER``: the tables are read when modules are loaded, so the form is
registered before anything else is.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import GenericAlias
from typing import Any, TypeVar

from clearlane.claims import forms, kinds
from clearlane.claims.fields import ClaimPart, MedicalClaim, MedicalDocument, MedicalLine
from clearlane.claims.view_builder import ViewTable

T = TypeVar("T")
Given = Mapping[str, Any]

NAME = "slip"
OWN = "Slip"
"""What every field of the form is called before its name on the medical form: nothing outside a form knows names."""


def own_name(path: str) -> str:
    """Return a field, or a path of fields, in the words of the form."""
    return ".".join(OWN + word for word in path.split("."))


def own_names(table: Mapping[str, T]) -> dict[str, T]:
    """Return a table by field in the words of the form."""
    return {own_name(name): value for name, value in table.items()}


def medical(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return filled fields as the medical form calls them."""
    return {name.removeprefix(OWN): value for name, value in given.items()}


def _model(name: str, source: type[ClaimPart], **types: Any) -> type[ClaimPart]:
    """Return a model of the catalogue with the fields of another one, under names of its own."""
    rows = source.model_fields
    found = {own_name(field): types.get(field, row.annotation) for field, row in rows.items()}
    body = {own_name(field): copy(row) for field, row in rows.items()}
    return type(name, (ClaimPart,), {**body, "__annotations__": found, "__module__": __name__})


def _computing(compute: Callable[[Given], Any]) -> Callable[[Given], Any]:
    """Return a function of the medical form's fields for those of this form."""
    return lambda given: compute(medical(given))


def _writing(write: Callable[[Any, Given], Given]) -> Callable[[Any, Given], Given]:
    """Return what states a value in the medical form's fields, in those of this form."""
    return lambda value, given: own_names(write(value, medical(given)))


def _table(table: ViewTable) -> ViewTable:
    """Return where the form has the values of the view."""
    return replace(
        table,
        paths=own_names(table.paths),
        converted=own_names(table.converted),
        computed={path: _computing(compute) for path, compute in table.computed.items()},
        also=own_names(table.also),
        written={path: _writing(write) for path, write in table.written.items()},
        items=own_names(table.items),
    )


SlipLine = _model("SlipLine", MedicalLine)
SlipClaim = _model("SlipClaim", MedicalClaim, F24_ClaimLines=GenericAlias(tuple, (SlipLine, ...)))
SlipDocument = type(
    "SlipDocument",
    (ClaimPart,),
    {
        **{name: copy(row) for name, row in MedicalDocument.model_fields.items()},
        "__annotations__": {
            name: GenericAlias(tuple, (SlipClaim, ...)) if name == "Claims" else row.annotation
            for name, row in MedicalDocument.model_fields.items()
        },
        "__module__": __name__,
    },
)


def register() -> forms.AnyForm:
    """Add the form to the two tables, as a row in the file of each would."""
    kind = kinds.ClaimKind.MEDICAL
    row = kinds.KINDS[kind]
    kinds.KINDS = {**kinds.KINDS, kind: row._replace(submitted_on=(*row.submitted_on, NAME))}
    kinds.SUBMITTED_FORMS = (*kinds.SUBMITTED_FORMS, NAME)
    source = forms.V3_MEDICAL
    form = replace(
        source,
        name=NAME,
        document=SlipDocument,
        claim=SlipClaim,
        line=SlipLine,
        lines_field=own_name(source.lines_field),
        persons=tuple(
            (own_name(one), own_name(other), what) for one, other, what in source.persons
        ),
        other_insurance_fields=frozenset(map(own_name, source.other_insurance_fields)),
        other_payer_names=tuple(map(own_name, source.other_payer_names)),
        decision_fields=frozenset(map(own_name, source.decision_fields)),
        view_table=_table(source.view_table),
        line_view_table=_table(source.line_view_table),
        view_places={path: own_name(place) for path, place in source.view_places.items()},
        decide=lambda given, lines: source.decide(medical(given), lines),
        missing_fields=lambda claim, lines: map(
            own_name, source.missing_fields(medical(claim), [*map(medical, lines)])
        ),
    )
    forms.FORMS = {**forms.FORMS, NAME: form}
    return form


def main(folder: Path) -> None:
    """Submit, list and show a claim of the form; print what was seen as JSON."""
    form = register()
    from typer.testing import CliRunner

    from clearlane.claims.forms import samples
    from clearlane.cli.command.root import app
    from clearlane.pipeline.intake.submission_result import SubmissionReceipt
    from clearlane.pipeline.intake.submit import submit
    from clearlane.settings import load
    from clearlane.store.claims.claims import find
    from clearlane.store.database.database import Actor
    from clearlane.wiring import open_installation

    def command(*words: str) -> str:
        done = CliRunner().invoke(app, [*words, "--data", str(folder)], env={"COLUMNS": "250"})
        assert done.exit_code == 0, done.output
        return done.stdout

    command("vendor", "add", "ACME")
    command("site", "add", "ACME", "--id", "A-1", "--baa-accepted")
    now = datetime.now(UTC)
    day = now.date() - timedelta(days=3)
    document = samples.document(forms.V3_MEDICAL, day=day, claim_id="SLIP-1")
    (good,) = document["Claims"]
    good["F24_ClaimLines"] = [own_names(line) for line in good["F24_ClaimLines"]]
    good = own_names(good)
    bad = {**good, "SlipSvc_VendorClaimId": "SLIP-2", "SlipF28_TotalCharge": "1.00"}
    document["Claims"] = [good, bad]

    async def send() -> tuple[list[dict[str, object]], str]:
        settings = load(environ={}, overrides={"data": folder})
        async with open_installation(settings, role="command") as installation:
            site = installation.accounts.any_site("A-1")
            assert site is not None
            outcome = await submit(
                installation.work_context,
                json.dumps(document, default=str).encode(),
                form,
                site=site,
                actor=Actor("vendor", "ACME"),
                now=now,
            )
            assert isinstance(outcome, SubmissionReceipt), outcome
            async with installation.database.read(site.scope) as tx:
                row = await find(tx, outcome.results[0].claim_number)
            assert row is not None
        judged: list[dict[str, object]] = [
            {
                "number": one.claim_number,
                "found": {each.rule: each.location for each in one.findings},
            }
            for one in outcome.results
        ]
        return judged, row.form

    judged, stored_as = asyncio.run(send())
    number = judged[0]["number"]
    seen = {
        "judged": judged,
        "form": stored_as,
        "list": json.loads(command("claim", "list", "--json")),
        "show": json.loads(command("claim", "show", str(number), "--json")),
    }
    print(json.dumps(seen))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
