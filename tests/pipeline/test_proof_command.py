"""`clearlane claim proof` and `clearlane proof`, as an operator and as someone without the installation type them.

Also tests `cli/claim/proof_command`, `cli/claim/proof_files`, `cli/claim/form_files` and `cli/command/private_file`.
"""

import stat

import pytest
from pypdf import PdfReader

from clearlane.pipeline.filing import checkpoints
from clearlane.store.audit.checkpoint_copies import COPIES_NAME
from tests.claims.answers import patient, status
from tests.pipeline.flowing import accounts
from tests.pipeline.test_claim_proof import sign_hour

# The PDF is made by a process that is started deep in the product.
pytestmark = pytest.mark.server


@pytest.fixture
def filed(within):
    """A claim that the payer took, and one that waits; their numbers."""

    async def work(flow):
        [id], content = await flow.sent()
        await flow.arrive(status(patient(*accounts(content), "A2:20:PR*20261102*WQ*150")))
        await sign_hour(flow)
        await checkpoints.keep_copies(flow.context)
        return id, *await flow.submit()

    return within(work)


def test_a_proof_is_written_and_checked_without_the_installation(
    clearlane, filed, place, monkeypatch, tmp_path
):
    id, unsent = filed
    proof, evidence = tmp_path / "proof.pdf", tmp_path / "proof.json"
    assert f"Wrote {proof}." in clearlane(f"claim proof {id} -o {proof}")
    assert stat.S_IMODE(proof.stat().st_mode) == 0o600
    clearlane(f"claim proof {id} --out {evidence}")
    assert "not sent yet" in clearlane(f"claim proof {unsent} -o {proof}x", code=1)
    assert "cannot be written" in clearlane(f"claim proof {id} -o {tmp_path}/none/x.pdf", code=2)
    shown = clearlane("proof key --json")
    assert shown["fingerprint"] in clearlane("proof key")
    kept = tmp_path / "kept"
    kept.write_bytes((place.data / COPIES_NAME).read_bytes())
    monkeypatch.setenv("CLEARLANE_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setenv("CLEARLANE_DATABASE_URL", "")
    printed = clearlane(f"proof verify {proof}")
    for words in ("The proof holds", "The payer received the claim.", shown["fingerprint"], "own clock"):  # fmt: skip
        assert words in " ".join(printed.split())
    for file in (proof, evidence):
        found = clearlane(f"proof verify {file} --since {kept} --key {shown['key']} --json")
        assert (found["holds"], found["claim_number"], found["faults"]) == (True, id, [])
        assert [one["is_proof"] for one in found["acknowledgements"]] == [True]
    assert "another installation" in clearlane(f"proof verify {proof} --key 00:11", code=1)
    evidence.write_bytes(evidence.read_bytes().replace(b"A2:20", b"A2:21"))
    assert "was changed" in clearlane(f"proof verify {evidence}", code=1)
    assert clearlane(f"proof verify {evidence} --json", code=1)["holds"] is False
    assert "cannot be read" in clearlane(f"proof verify {tmp_path}/none", code=2)
    kept.write_bytes(b"nothing")
    assert "no checkpoints" in clearlane(f"proof verify {proof} --since {kept}", code=2)


def test_a_claim_is_written_on_paper_with_what_does_not_fit(clearlane, filed, tmp_path):
    id, _ = filed
    form, sheet = tmp_path / "claim.pdf", tmp_path / "sheet.pdf"
    assert f"Wrote {form} (CMS-1500 (02/12))." in clearlane(f"claim form {id} -o {form}")
    assert stat.S_IMODE(form.stat().st_mode) == 0o600
    clearlane(f"claim form {id} --sheet plain -o {sheet}")
    assert "Not for submission" in PdfReader(sheet).pages[0].extract_text()
    assert "99213" in PdfReader(form).pages[0].extract_text()
    assert "preprinted" in clearlane(f"claim form {id} --sheet blue -o {form}", code=2)
