"""An answer's status, words and headers decide what the caller does next."""

from __future__ import annotations

from datetime import UTC, datetime

import httpx2
import pytest
from openai import APIConnectionError, APIStatusError, APITimeoutError

from schemas.codes import Code
from services.encoder.errors import EncoderRefused, EncoderUnavailable, RequestTooLarge
from services.encoder.refusals import meaning, retry_after

REQUEST = httpx2.Request("POST", "http://127.0.0.1/v1/embeddings")
NOW = datetime(2025, 3, 1, 12, 0, 0, tzinfo=UTC)


def answer(status: int, message: str = "no", headers: dict[str, str] | None = None, **error: str) -> APIStatusError:
    response = httpx2.Response(status, headers=headers, request=REQUEST)
    return APIStatusError(message, response=response, body={"message": message, **error})


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_busy_and_broken_servers_are_unavailable(status: int) -> None:
    assert isinstance(meaning(answer(status)), EncoderUnavailable)


def test_no_connection_and_time_outs_are_unavailable() -> None:
    assert isinstance(meaning(APIConnectionError(request=REQUEST)), EncoderUnavailable)
    assert isinstance(meaning(APITimeoutError(request=REQUEST)), EncoderUnavailable)


def test_the_wait_that_was_asked_for_comes_along() -> None:
    error = meaning(answer(429, headers={"Retry-After": "12"}))
    assert isinstance(error, EncoderUnavailable)
    assert error.retry_after == 12


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, Code.PROVIDER_REFUSED),
        (401, Code.PROVIDER_REFUSED),
        (403, Code.PROVIDER_REFUSED),
        (404, Code.MODEL_UNAVAILABLE),
        (422, Code.PROVIDER_REFUSED),
    ],
)
def test_what_repetition_cannot_mend_is_refused(status: int, code: Code) -> None:
    error = meaning(answer(status))
    assert isinstance(error, EncoderRefused)
    assert error.code == code
    assert error.by_input == (status in (400, 422))


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "This model's maximum context length is 8192 tokens, however you requested 9000 tokens"),
        (400, "Requested 320000 tokens, max 300000 tokens per request"),
        (400, "Invalid 'input': array too long. Expected an array with maximum length 2048"),
        (400, "'$.input' is invalid. Please check the API reference"),
        (413, "Payload"),
        (422, "batch size 64 > maximum allowed batch size 32"),
        (422, "`inputs` must have less than 512 tokens. Input exceeds it"),
        (400, "Too many tokens in batch. Max is 16384"),
    ],
)
def test_complaints_about_size_are_told_apart(status: int, message: str) -> None:
    assert isinstance(meaning(answer(status, message)), RequestTooLarge)


def test_the_code_of_the_error_says_size_too() -> None:
    assert isinstance(meaning(answer(400, "no", code="context_length_exceeded")), RequestTooLarge)
    assert isinstance(meaning(answer(400, "no", type="max_tokens_per_request")), RequestTooLarge)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "Sat, 01 Mar 2025 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Sat, 01 Mar 2025 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": ""}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds
