"""Read a payer's reply to inquiries: the answers of one transaction, and refusals of our files.

    file = read_response(content, "271", read_answers)    # read_answers yields the answers of one set

A 999 or TA1 that accepts is ignored. Content that is not X12 has neither answers nor refusals. Knows envelopes, 999s and
TA1s; what an answer is, the transaction knows.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Generic, TypeVar

from clearlane.inquiry.refusals import FileRefusal, interchange_refusals, set_refusals
from clearlane.x12 import grammar, guides, tree
from clearlane.x12.reader import reader

A = TypeVar("A")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseFile(Generic[A]):
    """The answers and refusals of one file."""

    answers: tuple[A, ...] = ()
    refusals: tuple[FileRefusal, ...] = ()
    is_x12: bool = False
    """Whether the file is X12 at all."""


class AnswerMatch(StrEnum):
    """The result of comparing an answer with an inquiry."""

    MATCHED = "matched"
    WRONG_PATIENT = "wrong patient"
    WRONG_PAYER = "wrong payer"
    OTHER_CLAIM = "other claim"
    """It answers the inquiry with a claim of the patient that was not asked about: a person must look at it."""


def read_response(
    content: bytes,
    answer_set: str,
    read_answers: Callable[[tree.TransactionSet, bytes], Iterable[A]],
) -> ResponseFile[A]:
    """Return the answers and refusals of a file."""
    file = reader.parse(content, check=False, choose_guide=partial(_choose_guide, answer_set))
    answers: list[A] = []
    refusals: list[FileRefusal] = []
    for interchange in file.interchanges:
        refusals += interchange_refusals(interchange)
        for set in interchange.sets():
            kind = set.guide.kind if set.guide else ""
            if kind == answer_set:
                answers += read_answers(set, content)
            elif kind == "999":
                refusals += set_refusals(set)
    return ResponseFile(
        answers=tuple(answers), refusals=tuple(refusals), is_x12=bool(file.interchanges)
    )


def _choose_guide(answer_set: str, transaction: str, version: str) -> grammar.Guide | None:
    """Return the guide of a set. Any version of an answer is read by the one guide, so that no answer is lost."""
    found = guides.by_version(transaction, version)
    return guides.by_kind(answer_set) if found is None and transaction == answer_set else found
