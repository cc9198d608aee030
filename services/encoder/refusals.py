"""What an error answer of an OpenAI-compatible provider means for the caller."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

from schemas.codes import Code
from services.encoder.errors import EncoderError, EncoderRefused, EncoderUnavailable, RequestTooLarge

SIZE = re.compile(
    r"too (large|long|many)|exceed|array_above_max_length|context_length"
    r"|max(imum)?[ _-]((allowed|request|context|sequence|input) )?(length|tokens|batch|size)"
    r"|max \d+ tokens|'\$\.input' is invalid",
    re.IGNORECASE,
)
"""How OpenAI, Azure, Mistral, Voyage, text-embeddings-inference and vLLM word a request that is too large."""

BUSY = {408, 409, 425, 429}
SIZE_STATUSES = {400, 413, 422}


def meaning(error: APIError) -> EncoderError:
    """The error of ours that tells the caller what to do next."""
    if isinstance(error, APIStatusError):
        return _meaning_of_status(error)
    if isinstance(error, APITimeoutError):
        return EncoderUnavailable("the provider took longer than the limit")
    if isinstance(error, APIConnectionError):
        return EncoderUnavailable(f"the provider can't be reached: {error.__cause__ or error}")
    return EncoderUnavailable(f"the provider's answer can't be read: {error}")


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """The seconds to wait that the headers name, as milliseconds, seconds or an HTTP date; None where they don't."""
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _seconds(value)
    if seconds is not None or value is None:
        return seconds
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds())


def _meaning_of_status(error: APIStatusError) -> EncoderError:
    status, reason = error.status_code, f"the provider answered {error.status_code}: {error.message[:500]}"
    if status >= 500 or status in BUSY:
        return EncoderUnavailable(reason, retry_after(error.response.headers, datetime.now(UTC)))
    if status == 413 or (status in SIZE_STATUSES and SIZE.search(f"{error.message} {error.code} {error.type}")):
        return RequestTooLarge(reason)
    if status == 404:
        return EncoderRefused(Code.MODEL_UNAVAILABLE, reason)
    return EncoderRefused(Code.PROVIDER_REFUSED, reason, by_input=status in SIZE_STATUSES)


def _seconds(value: str | None) -> float | None:
    """A header's number, not below zero."""
    if value is None or not re.fullmatch(r"\s*\d{1,9}(\.\d*)?\s*", value):
        return None
    return float(value)
