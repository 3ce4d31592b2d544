"""Proofs, checkpoints and claims on paper of `/clearlane/v1` over https.

Also tests `api/v1/proofs` and `api/v1/claim_forms`.
"""

import random

import pytest

from clearlane.proofs.verify_proof import read_checkpoints, verify_file
from tests.api.test_claims import a_document, post, results

pytestmark = pytest.mark.one_database

V1 = "/clearlane/v1"


@pytest.fixture(scope="module")
def vendor(server):
    account = server.add_vendor(f"PROVEN{random.getrandbits(32):X}")
    server.add_site(account, f"{account.key}-1", "--baa-accepted")
    return account


def test_a_vendor_gets_the_proof_of_its_claim_and_every_checkpoint(server, vendor):
    site = {"params": {"vendorSiteId": f"{vendor.key}-1"}}
    with server.client(vendor.auth) as client:
        [claim] = results(post(client, a_document(), **site))
        path = f"{V1}/claims/{claim['RequestId']}/proof"
        client.post("/sandbox/advance", **site, json={"By": "3d"}).raise_for_status()
        pdf, evidence = client.get(path), client.get(f"{path}/evidence")
        assert pdf.headers["content-type"] == "application/pdf"
        assert evidence.headers["content-type"] == "application/json"
        page = client.get(f"{V1}/checkpoints", params={"limit": 1})
        [first] = page.json()["data"]
        assert (first["number"], len(first["fingerprint"])) == (1, 39)
        kept = read_checkpoints(page.content)
        while after := page.json()["next"]:
            page = client.get(f"{V1}/checkpoints", params={"limit": 500, "after": after})
            kept += read_checkpoints(page.content) if page.json()["data"] else []
        for content in (pdf.content, evidence.content):
            verdict = verify_file(content, expected_key=first["fingerprint"], kept=kept)
            assert verdict.holds, verdict.faults
            assert any("confirms it" in one for one in verdict.proven)
        # It is never sent. One that is accepted may be, between two calls on a busy machine.
        [unsent] = results(post(client, a_document(Svc_PayerId="NOPAYER"), **site))
        refused = client.get(f"{V1}/claims/{unsent['RequestId']}/proof")
        assert (refused.status_code, "not sent yet" in refused.json()["detail"]) == (409, True)
        assert client.get(f"{V1}/claims/C000/proof").status_code == 404
        assert client.get(f"{V1}/checkpoints", params={"after": "x"}).status_code == 400


def test_a_vendor_gets_its_claim_on_paper(server, vendor):
    site = {"params": {"vendorSiteId": f"{vendor.key}-1"}}
    stranger = server.add_vendor(f"STRANGE{random.getrandbits(32):X}")
    with server.client(vendor.auth) as client:
        [claim] = results(post(client, a_document(), **site))
        path = f"{V1}/claims/{claim['RequestId']}/form"
        form = client.get(path).json()
        assert (form["form"], len(form["pages"])) == ("CMS-1500 (02/12)", 1)
        texts = {(one["box"], one["text"]) for one in form["pages"][0]["texts"]}
        assert ("24D", "99213") in texts
        for sheet in ({}, {"sheet": "plain"}, {"sheet": "preprinted"}):
            pdf = client.get(f"{path}.pdf", params=sheet)
            assert (pdf.headers["content-type"], pdf.content[:5]) == ("application/pdf", b"%PDF-")
        refused = client.get(f"{path}.pdf", params={"sheet": "blue"})
        assert refused.status_code == 400
        assert "preprinted" in refused.text
        assert client.get(f"{V1}/claims/C000/form").status_code == 404
    with server.client(stranger.auth) as client:
        assert client.get(path).status_code == client.get(f"{path}.pdf").status_code == 404
