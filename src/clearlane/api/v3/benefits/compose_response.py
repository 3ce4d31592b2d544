"""Compose the whole response to an eligibility request from the stored outcomes of its patients.

    compose_response(answers, with_x12=False)      # for each call, in pieces

V3's JSON is made for each call and stored nowhere. A page of outcomes is in memory at a time, and other calls run
after every few of them, so that a request of thousands does not delay others.

Knows the outermost object of the response; knows no 271, no store and no clock.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

import msgspec

from clearlane.api.v3.benefits import response_builder
from clearlane.api.v3.benefits.benefit_names import REQUEST_STATUSES
from clearlane.api.v3.benefits.json_types import ValidationResultJson
from clearlane.eligibility.benefit_answer import BenefitAnswer, BenefitResult
from clearlane.eligibility.json_struct import JsonStruct
from clearlane.inquiry.inquiry_result import ValidationResult
from clearlane.pipeline.inquiry.request_answers import RequestAnswers

OUTCOMES_AT_ONCE = 4


async def compose_response(
    answers: RequestAnswers[BenefitAnswer], *, with_x12: bool
) -> AsyncIterator[bytes]:
    """Yield the response in pieces; ``with_x12`` puts the payers' files into ``X12Document``."""
    yield b'{"RequestId":%d,"Status":%b,"Responses":[' % (
        answers.request_number,
        _ENCODER.encode(REQUEST_STATUSES[answers.status]),
    )

    def encode(outcome: BenefitResult) -> bytes:
        return encode_result(outcome, with_x12=with_x12)

    async for piece in _join(answers.answered, encode):
        yield piece
    yield b'],"ValidationResults":%b,"ErrorResponses":[' % encode_results(answers.results)
    # One interchange may hold many patients, but its status is listed once.
    statuses: dict[bytes, None] = {}

    def encode_error(outcome: BenefitResult) -> bytes:
        if outcome.error and outcome.error.status:
            status = response_builder.build_interchange_status(outcome.error.status)
            statuses[encode_element(status)] = None
        return encode(outcome)

    async for piece in _join(answers.refused, encode_error):
        yield piece
    yield b'],"InterchangeStatuses":[%b]}' % b",".join(statuses)


def encode_result(outcome: BenefitResult, *, with_x12: bool) -> bytes:
    """Return the element of ``Responses`` or ``ErrorResponses`` for an outcome."""
    x12 = outcome.x12 if with_x12 else b""
    if outcome.answer is not None:
        return encode_element(response_builder.build_response(outcome.answer, x12))
    if outcome.error is None:
        raise ValueError("an outcome has an answer or an error")
    return encode_element(response_builder.build_error_response(outcome.error, x12))


def encode_results(results: Sequence[ValidationResult]) -> bytes:
    """Return the array of ``ValidationResults``."""
    return _ENCODER.encode(
        [
            ValidationResultJson(Location=one.location, Code=one.code, Message=one.message)
            for one in results
        ]
    )


def encode_element(element: JsonStruct) -> bytes:
    """Return the JSON of an element."""
    return _ENCODER.encode(element)


async def _join(
    pages: AsyncIterator[Sequence[BenefitResult]], encode: Callable[[BenefitResult], bytes]
) -> AsyncIterator[bytes]:
    """Yield the elements of an array, separated by commas."""
    separator = b""
    async for page in pages:
        for start in range(0, len(page), OUTCOMES_AT_ONCE):
            some = page[start : start + OUTCOMES_AT_ONCE]
            yield separator + b",".join(map(encode, some))
            separator = b","
            await asyncio.sleep(0)


# Amounts are JSON numbers with the digits of the file, such as 20.00.
_ENCODER = msgspec.json.Encoder(decimal_format="number")
