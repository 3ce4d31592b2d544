"""Register a fourth form of claims by rows of two tables, and send a claim of it through an installation.

Run as a program, ``python -m tests.claims.fourth_form FOLDER``: the tables are read when modules are loaded, so the form is
registered before anything else is.
"""

import asyncio
import json
import sys
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from clearlane.claims import forms, kinds
from clearlane.claims.fields import ClaimPart, MedicalClaim, MedicalDocument, MedicalLine

NAME = "slip"


def _model(name: str, source: type[ClaimPart], **own: Any) -> type[ClaimPart]:
    """Return a model of the catalogue with the fields of another one; some have another type."""
    rows = source.model_fields
    types = {field: own.get(field, row.annotation) for field, row in rows.items()}
    body = {field: copy(row) for field, row in rows.items()}
    return type(name, (ClaimPart,), {**body, "__annotations__": types, "__module__": __name__})


SlipLine = _model("SlipLine", MedicalLine)
SlipClaim = _model("SlipClaim", MedicalClaim, F24_ClaimLines=tuple[SlipLine, ...])


def register() -> forms.AnyForm:
    """Add the form to the two tables, as a row in the file of each would."""
    kind = kinds.ClaimKind.MEDICAL
    row = kinds.KINDS[kind]
    kinds.KINDS = {**kinds.KINDS, kind: row._replace(submitted_on=(*row.submitted_on, NAME))}
    kinds.SUBMITTED_FORMS = (*kinds.SUBMITTED_FORMS, NAME)
    form = replace(
        forms.V3_MEDICAL,
        name=NAME,
        document=MedicalDocument,
        claim=SlipClaim,
        line=SlipLine,
    )
    forms.FORMS = {**forms.FORMS, NAME: form}
    return form


def main(folder: Path) -> None:
    """Submit, list and show a claim of the form; print what was seen as JSON."""
    form = register()
    from typer.testing import CliRunner

    from clearlane.claims.forms import samples
    from clearlane.cli.command.root import app
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
    bad = {**document["Claims"][0], "Svc_VendorClaimId": "SLIP-2", "F28_TotalCharge": "1.00"}
    document["Claims"].append(bad)

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
            async with installation.database.read(site.scope) as tx:
                row = await find(tx, outcome.results[0].claim_number)
        judged = [
            {"number": one.claim_number, "rules": [finding.rule for finding in one.findings]}
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
        "x12": command("claim", "x12", str(number)),
    }
    print(json.dumps(seen))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
