"""The fetcher: intake of wishes, ledger and dispatch, promotion, fetching."""

from __future__ import annotations

from services.chassis.process import Process, run
from services.fetcher.crawling.crawl import Crawling
from services.fetcher.crawling.settling import Settling
from services.fetcher.crawling.sitemaps import Sitemaps
from services.fetcher.dispatching import Announcer, Dispatcher
from services.fetcher.fetching import Fetching
from services.fetcher.handlers import subscribe
from services.fetcher.http.settings import FetchSettings
from services.fetcher.intake import Intake
from services.fetcher.promotion import Promotion
from services.fetcher.reading.page_reader import PageReader
from services.fetcher.reading.settings import ReaderSettings
from services.fetcher.settings import CrawlSettings, DispatchSettings, IntakeSettings, PromotionSettings
from services.ledger import Ledger, Stage
from services.ledger.settings import LedgerSettings

_LOOK_SECONDS, _HOUR = 10.0, 3600.0


async def compose() -> Process:
    """Put the process together."""
    process = Process("fetcher")
    dispatch_settings, ledger_settings = DispatchSettings(), LedgerSettings()
    ledger = Ledger(process.postgres, ledger_settings, "fetching")
    pages = PageReader(FetchSettings(), ReaderSettings())
    crawling = Crawling(process.postgres, pages.direct.robots, Sitemaps(pages.direct, pages.direct.robots))
    intake = Intake(process.postgres, process.blobs, process.publisher, IntakeSettings())
    dispatcher = Dispatcher(process.postgres, process.publisher, ledger, dispatch_settings, ledger_settings)
    announcer = Announcer(process.postgres, process.publisher, dispatch_settings.poll)

    subscribe(
        process.consume(on_pause=ledger.pause),
        intake=intake,
        promotion=Promotion(process.postgres, PromotionSettings()),
        dispatcher=dispatcher,
        fetching=Fetching(process.postgres, process.blobs, process.publisher, pages, crawling),
        stage=Stage(ledger),
    )
    process.background += [dispatcher.run, announcer.run]
    process.repeat(dispatcher.look_after, _LOOK_SECONDS)
    process.repeat(Settling(process.postgres).look, CrawlSettings().look)
    process.repeat(intake.forget, _HOUR)
    process.winding_down.append(dispatcher.stop)
    process.closing.append(pages.aclose)
    return process


if __name__ == "__main__":
    run("fetcher", compose)
