"""Questions that come to a payer's mailbox as a file are answered by files.

Also tests `sandbox/responses/envelope`.
"""

from tests.sandbox.asking import NOW, Question, asked, canonical, payer
from tests.sandbox.invented import DENTAL, Stage, clean, file, kind, medical, starting


def questions(*ids: str, payer: str = "TST01") -> list[Question]:
    return [
        Question(member=id, payer=payer, traces=((f"17-{at}", "9123456789"),), reference=id)
        for at, id in enumerate(ids, 1)
    ]


async def received(stage: Stage, content: bytes, name: str = "batch.270") -> dict[str, bytes]:
    await stage.payer.receive(name, content, NOW)
    return await stage.work()


def kinds(left: dict[str, bytes]) -> list[str]:
    return [name.split(".")[-1] for name in left]


async def test_a_file_of_questions_is_acknowledged_and_answered_at_once():
    left = await received(Stage(), asked(*questions("2001", "1004", "1008", "1007")))
    assert kinds(left) == ["999", "271"]
    assert all(map(clean, left.values()))
    (content,) = kind(left, "271")
    found = canonical(content)
    assert [row.split("*")[3] for row in starting(found, "BHT*")] == [
        "2001",
        "1004",
        "1008",
        "1007",
    ]
    alone = canonical(await payer().answer(asked(*questions("2001")), NOW))
    assert starting(found, "EB*")[: len(starting(alone, "EB*"))] == starting(alone, "EB*")


async def test_a_set_that_is_refused_leaves_the_others_alone():
    left = await received(Stage(), asked(*questions("2001", "1006", "2002")))
    assert starting(canonical(kind(left, "999")[0]), "IK5", "AK9") == [
        "IK5*A", "IK5*R*5", "IK5*A", "AK9*P*3*3*2",
    ]  # fmt: skip
    found = canonical(kind(left, "271")[0])
    assert [row.split("*")[3] for row in starting(found, "BHT*")] == ["2001", "2002"]


async def test_no_271_follows_where_every_set_is_refused():
    left = await received(Stage(), asked(*questions("1006")))
    assert kinds(left) == ["999"]


async def test_the_same_file_changes_nothing_and_a_used_number_is_refused():
    stage = Stage()
    content = asked(*questions("2001"), acknowledge=True)
    assert kinds(await received(stage, content)) == ["TA1", "999", "271"]
    assert await received(stage, content) == {}
    again = await received(stage, asked(*questions("2002")), name="other.270")
    assert kinds(again) == ["TA1"]
    assert b"*R*025~" in kind(again, "TA1")[0]


async def test_an_interchange_that_cannot_be_opened_is_refused():
    left = await received(Stage(), asked(*questions("2001")).replace(b"IEA*1*", b"IEA*2*"))
    assert kinds(left) == ["TA1"]


async def test_questions_and_claims_come_to_one_mailbox():
    stage = Stage(DENTAL)
    left = await received(stage, asked(*questions("2001", payer="TST02"), control=40))
    assert b"*FERNLEAF DENTAL CHOICE~" in kind(left, "271")[0]
    await stage.payer.receive("b.837", file(medical("3001"), control=41), NOW)
    assert kinds(await stage.work()) == ["999"]
    numbers = [name.split(".")[1] for name in stage.files]
    assert numbers == sorted(set(numbers))
