"""A 270 read with the payer's own eyes, whatever its separators and however it is broken."""

from datetime import date
from random import Random

import pytest

from clearlane.sandbox import read_270
from clearlane.x12.delimiters import Delimiters
from tests.corpus import Sample, corpus_files
from tests.sandbox.asking import NOW, PAYERS, Question, ask, asked, payer
from tests.sandbox.invented import file, medical

EQ = (("EQ", ["30", "98"], "", "FAM"), ("EQ", "", ("HC", "97110", "GP")))


def test_everything_that_an_answer_needs_is_read():
    content = ask(
        "W1",
        benefits=EQ,
        day="20260401",
        traces=(("17-1", "9123456789"), ("T2", "1222222222", "D")),
    )
    (one,) = read_270.read(content)
    assert (one.parties.sender, one.parties.receiver, one.control) == ("CLEARLANE", "SANDBOX", 17)
    (read,) = one.sets()
    assert (read.reference, read.known, read.verdict.findings) == ("R17", True, [])
    (patient,) = read.subscribers()
    assert (patient.last, patient.first, patient.member) == ("ARDEN", "ROSA", "W1")
    assert (patient.birth, patient.sex, patient.day) == (date(1980, 2, 29), "F", date(2026, 4, 1))
    assert patient.traces == (("17-1", "9123456789", ""), ("T2", "1222222222", "D"))
    assert [one.services for one in patient.inquiries] == [("30", "98"), ()]
    assert [one.procedure for one in patient.inquiries] == [("",), ("HC", "97110", "GP")]
    assert [one.family for one in patient.inquiries] == [True, False]
    assert patient.is_inquired


def test_a_dependent_is_read_below_the_subscriber_who_is_not_asked_about():
    (read,) = read_270.read(ask("W1", child=True))[0].sets()
    (subscriber,) = read.subscribers()
    (child,) = subscriber.dependents
    assert (subscriber.is_inquired, child.is_inquired) == (False, True)
    assert (child.first, child.relationship, child.traces[0][0]) == ("MILO", "19", "17-1")


@pytest.mark.parametrize(
    "delimiters",
    [
        Delimiters("|", ">", "}", "\n"),
        Delimiters("+", "&", "!", "~", "\r\n"),
        Delimiters("^", "<", "*", "'"),
    ],
    ids=["newline", "crlf", "swapped"],
)
async def test_the_separators_of_a_question_do_not_matter(delimiters):
    question = Question(member="W1", benefits=EQ)
    plain = await payer().answer(asked(question), NOW)
    assert await payer().answer(asked(question, delimiters=delimiters), NOW) == plain


def test_a_question_prints_nothing_of_the_patient():
    (read,) = read_270.read(ask("W1", child=True))[0].sets()
    shown = repr(read.sources)
    assert "ARDEN" not in shown
    assert "W1" not in shown


def test_only_files_of_questions_are_taken_for_such():
    assert read_270.functional_group(ask("W1")) == read_270.GROUP
    other = asked(Question(member="W1"), delimiters=Delimiters("|", ">", "}", "\n"))
    assert read_270.functional_group(other) == read_270.GROUP
    assert read_270.functional_group(file(medical("3001"))) == "HC"
    for content in (b"", b"ISA", b"<html>", ask("W1")[:106], ask("W1")[:109]):
        assert read_270.functional_group(content) == ""


def test_a_cut_question_is_read_at_every_length():
    content = ask("W1", child=True)
    whole = read_270.read(content)
    for at in range(len(content)):
        cut = read_270.read(content[:at])
        assert len(cut) <= 1
        assert cut != whole


@pytest.mark.parametrize("seed", range(10))
async def test_a_damaged_question_is_answered_whatever_was_done_to_it(seed):
    random = Random(seed)
    one = payer(list(PAYERS)[seed % 5])
    source = ask(["2001", "1007"][seed % 2], child=seed % 3 == 0, day="00010101", benefits=EQ[:1])
    for _ in range(40):
        content = bytearray(source)
        for _ in range(random.randint(1, 6)):
            at = random.randrange(len(content))
            content[at : at + random.randint(0, 3)] = random.randbytes(random.randint(0, 3))
        assert (await one.answer(bytes(content), NOW)).startswith(b"ISA")


@pytest.mark.parametrize("sample", corpus_files("270"))
async def test_every_public_sample_is_answered(sample: Sample):
    content = sample.path.read_bytes()
    reply = await payer().answer(content, NOW)
    assert reply.startswith(b"ISA")
