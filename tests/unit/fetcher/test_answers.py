"""What the headers and the status of an answer mean."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.codes import Code
from services.chassis.errors import RetryLater, SourceRefused
from services.fetcher.http.answers import content_type, described, failure, retry_after, validator


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("text/html; charset=UTF-8", ("text/html", "utf-8")),
        ('Text/HTML;Charset="ISO-8859-1"', ("text/html", "iso-8859-1")),
        ("text/html;charset='utf-8'; x=y", ("text/html", "utf-8")),
        ("text/html; boundary=a;  charset = koi8-r ", ("text/html", "koi8-r")),
        ("application/vnd.ms-excel", ("application/vnd.ms-excel", None)),
        ("text/html; charset=", ("text/html", None)),
        ("text/html; charset=a b", ("text/html", None)),
        ("; charset=utf-8", (None, "utf-8")),
        ("html", (None, None)),
        ("", (None, None)),
    ],
)
def test_content_type(header: str, expected: tuple[str | None, str | None]) -> None:
    assert content_type(header) == expected


@pytest.mark.parametrize("value", ['"abc"', 'W/"a b"', "Tue, 01 Jan 2030 00:00:00 GMT", "x"])
def test_a_validator_is_kept_as_it_is(value: str) -> None:
    assert validator(value) == value


@pytest.mark.parametrize("value", [None, "", " ", '"é"', '"a\r\nX: y"', '"a\n', "x" * 1_025])
def test_a_validator_that_could_not_be_sent_back_is_dropped(value: str | None) -> None:
    assert validator(value) is None


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("120", 120), (" 0 ", 0), ("99999999", 86_400), ("9" * 5_000, 86_400), ("", None), ("-5", None), ("soon", None)],
)
def test_retry_after_in_seconds(header: str, seconds: float | None) -> None:
    assert retry_after(header) == seconds


def test_retry_after_as_a_date() -> None:
    now = datetime.now(UTC)
    assert retry_after(format_datetime(now + timedelta(seconds=90), usegmt=True)) == pytest.approx(90, abs=3)
    assert retry_after(format_datetime(now - timedelta(days=3), usegmt=True)) == 0
    assert retry_after("Fri, 31 Dec 9999 23:59:59 -0000") == 86_400


@given(st.text())
def test_no_retry_after_is_an_error(header: str) -> None:
    seconds = retry_after(header)
    assert seconds is None or 0 <= seconds <= 86_400


@pytest.mark.parametrize("status", [300, 304, 400, 401, 403, 404, 405, 410, 418, 451, 499])
def test_the_page_is_at_fault(status: int) -> None:
    error = failure("http://h/", httpx.Response(status))
    if status == 304:
        assert isinstance(error, RetryLater)
    else:
        assert isinstance(error, SourceRefused)
    assert error.code == Code.HTTP_STATUS
    assert error.reason.startswith(described(status))


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 520, 599])
def test_the_moment_is_at_fault(status: int) -> None:
    error = failure("http://h/", httpx.Response(status, headers={"Retry-After": "7"}))
    assert isinstance(error, RetryLater)
    assert error.code == (Code.RATE_LIMITED if status == 429 else Code.HTTP_STATUS)
    assert error.after == 7


def test_the_phrase_is_the_standard_one() -> None:
    assert described(404) == "404 Not Found"
    assert described(520) == "520"
