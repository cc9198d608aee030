"""The log: structured, on standard error, each line with the context of the event that is being processed."""

from __future__ import annotations

import logging
import sys

import structlog

from services.chassis.settings import LogSettings


def configure_logging(settings: LogSettings, service: str) -> None:
    """Set up the process's log; other libraries' records go through it as well."""
    render = structlog.dev.ConsoleRenderer() if settings.format == "text" else structlog.processors.JSONRenderer()
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(settings.level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processor=render, foreign_pre_chain=shared))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.level)
    for noisy in ("aiokafka", "httpx", "httpx2", "uvicorn.access", "uvicorn.error", "faststream"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    structlog.contextvars.bind_contextvars(service=service)
