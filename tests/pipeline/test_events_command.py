"""`clearlane events list`: an operator sees what happened, of all vendors.

Also tests `cli/events/events`.
"""

from clearlane.events.event import NewEvent
from clearlane.store.database.database import Actor
from tests.pipeline.flowing import EVERYONE


def test_an_operator_lists_what_happened(clearlane, within):
    async def work(flow):
        database, scope = flow.database, flow.site.scope

        async def job(tx):
            tx.add_events(
                [
                    NewEvent("claim.sent", 0, scope.vendor, scope.site, "C1", 2, {"state": "sent"}),
                    NewEvent("route.down", data={"payer_id": "MM001"}),
                ]
            )

        await database.write(EVERYONE, job, actor=Actor("node", "a test"))

    within(work)
    since = "--hours 87600"  # the clock of the test is years behind
    said = clearlane(f"events list {since}")
    assert "claim.sent" in said
    assert "payer_id MM001" in said
    [row] = clearlane(f"events list {since} --type route.* --json")
    assert (row["type"], row["actor"], row["vendor"]) == ("route.down", "system", None)
    assert "is not a type" in clearlane("events list --type routes", code=2)
