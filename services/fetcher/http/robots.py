"""What the robots.txt of a site allows, asks for and points to."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from weakref import WeakValueDictionary

from protego import Protego

from schemas import urls
from services.chassis.errors import RetryLater, SourceRefused
from services.fetcher.http.exchange import Bounds, Exchange
from services.fetcher.http.settings import FetchSettings

MAX_BYTES = 500 * 1024
MAX_REDIRECTS = 5
MAX_SECONDS = 10.0
MAX_SITEMAPS = 1_000
FRESH_SECONDS = 3_600.0
# So that each page of a site whose robots.txt can't be had does not wait for it anew.
FAILED_SECONDS = 5.0
MAX_SITES = 1_000
# Parsed rules take many times the memory of their text, so that the texts together are bounded too.
MAX_CHARACTERS = 4 * 2**20

_USER_AGENT = re.compile(r"\s*user[\s-]*agent\s*:?([^#]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Site:
    """host: without a port. size: characters of the text. failure: why there are no rules for now."""

    host: str
    until: float
    rules: Protego
    size: int = 0
    failure: RetryLater | None = None


class Robots:
    """The rules of sites, asked for once an hour by scheme, host and port. One per process and event loop.

    Where a site says that it has none (4xx), all is allowed. With the setting `robots` off all is allowed everywhere,
    and only `sitemaps` reads the file.
    """

    def __init__(self, exchange: Exchange, settings: FetchSettings) -> None:
        self._exchange = exchange
        self._obeyed = settings.robots
        self._agent = settings.user_agent
        self._seconds = min(MAX_SECONDS, settings.total_seconds)
        self._sites: dict[str, _Site] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def allowed(self, url: str) -> bool:
        """Whether the page may be asked for. A Crawl-delay of its host holds from then on.

        Raises InvalidUrl, and RetryLater where the rules can't be had now (5xx, 429, time-out, no such host).
        """
        if not self._obeyed:
            return True
        site = await self._site(url)
        delay = site.rules.crawl_delay(self._agent)
        if delay is not None:
            self._exchange.turns.slow_down(site.host, delay)
        return site.rules.can_fetch(url, self._agent)

    def crawl_delay(self, host: str) -> float | None:
        """The seconds between two requests that the host asks for, as far as its rules are known by now."""
        if not self._obeyed:
            return None
        delays = [site.rules.crawl_delay(self._agent) for site in self._sites.values() if site.host == host]
        return max((delay for delay in delays if delay is not None), default=None)

    async def sitemaps(self, url: str) -> list[str]:
        """The absolute URLs of the sitemaps that the URL's site names, of any host. Raises as `allowed` does."""
        base = _robots_url(url)
        found: dict[str, None] = {}
        for reference in (await self._site(url)).rules.sitemaps:
            if len(found) == MAX_SITEMAPS:
                break
            try:
                found[urls.resolve(base, reference)] = None
            except urls.InvalidUrl:
                continue
        return list(found)

    async def _site(self, url: str) -> _Site:
        robots_url = _robots_url(url)
        # The lock lives as long as somebody waits for it.
        lock = self._locks.setdefault(robots_url, asyncio.Lock())
        async with lock:
            site = self._sites.get(robots_url)
            if site is None or site.until <= time.monotonic():
                site = await self._load(robots_url)
                self._remember(robots_url, site)
        if site.failure is not None:
            reason = f"robots.txt can't be read: {site.failure.reason}"
            raise RetryLater(site.failure.code, reason, after=site.failure.after)
        return site

    async def _load(self, robots_url: str) -> _Site:
        host = urls.parse(robots_url).host
        try:
            text = await self._text(robots_url)
        except RetryLater as error:
            if not error.counted:
                raise
            failure = RetryLater(error.code, error.reason, error.after)  # without the frames that the error holds
            return _Site(host, time.monotonic() + FAILED_SECONDS, Protego.parse(""), failure=failure)
        rules = Protego.parse(_without_others(text, self._agent))
        return _Site(host, time.monotonic() + FRESH_SECONDS, rules, len(text))

    async def _text(self, url: str) -> str:
        """The file, empty where the site has none that can be had."""
        seconds = self._seconds
        try:
            for _ in range(MAX_REDIRECTS + 1):
                answer = await self._exchange.ask(url, Bounds(seconds, MAX_BYTES, cut=True))
                if answer.target is None:
                    return _decoded(answer.body)
                seconds -= answer.seconds
                url = answer.target
        except (SourceRefused, urls.InvalidUrl):
            # What is refused here for the host's sake is refused again for the page itself.
            pass
        return ""

    def _remember(self, robots_url: str, site: _Site) -> None:
        self._sites.pop(robots_url, None)
        self._sites[robots_url] = site
        size = sum(known.size for known in self._sites.values())
        while len(self._sites) > MAX_SITES or (size > MAX_CHARACTERS and len(self._sites) > 1):
            size -= self._sites.pop(next(iter(self._sites))).size


def _robots_url(url: str) -> str:
    return str(urls.parse(url)._replace(path="/robots.txt", query=""))


def _decoded(body: bytes) -> str:
    text = body.decode("utf-8-sig", errors="replace")
    return text.rpartition("\n")[0] if len(body) >= MAX_BYTES else text


def _without_others(text: str, agent: str) -> str:
    """The text with one name for all agents that are not this one: rules cost memory for every agent they name."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        named = _USER_AGENT.match(line)
        if named and named[1].strip().lower().replace("*", "") not in agent.lower():
            lines[number] = "User-agent: <other>"
    return "\n".join(lines)
