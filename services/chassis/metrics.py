"""The catalogue of metrics. A metric that is not here does not exist; docs/metrics.md is compared with it."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

# A stage takes from a millisecond (a short text) to minutes (a long source at a slow provider).
_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)

EVENTS = Counter("kb_events", "Messages that a stage has done with.", ["topic", "group", "outcome"])
HANDLING = Histogram(
    "kb_handling_seconds", "From taking up a message to its end.", ["topic", "group"], buckets=_SECONDS
)
WAITING = Histogram(
    "kb_waiting_seconds", "From publishing a message to taking it up.", ["topic", "group"], buckets=_SECONDS
)
IN_HAND = Gauge("kb_in_hand", "Messages that the process is working on.", ["topic", "group"])
LAG = Gauge("kb_lag", "Messages between the committed offset and the end.", ["topic", "group", "partition"])
COMMIT_FAILURES = Counter("kb_commit_failures", "Offset commits that the broker refused.", ["topic", "group"])
PAUSES = Counter("kb_pauses", "Times that a stage found a dependency down.", ["group", "code"])
PAUSED = Gauge("kb_paused", "1 while a stage waits for a dependency.", ["group"])
DEAD_LETTERS = Counter("kb_dead_letters", "Messages that were put aside.", ["topic", "group", "code"])
PUBLISHED = Counter("kb_published", "Events that the broker has confirmed.", ["topic", "type"])

DISPATCHED = Counter("kb_dispatched", "Sources that the ledger has given out.", ["priority"])
DUE = Gauge("kb_due_sources", "Sources that wait for their turn, up to 1,000.", [])
LAPSED = Counter("kb_lapsed_leases", "Leases that ran out.", [])
SOURCES = Counter("kb_sources", "Revisions that came to an end.", ["outcome", "code"])
FENCED = Counter("kb_fenced", "Work dropped because a newer wish had come.", ["stage"])

CHUNKS = Counter("kb_chunks", "Chunks, by what became of them.", ["outcome"])
EMBEDDING_TOKENS = Counter("kb_embedding_tokens", "Tokens sent to the model.", ["space"])
EMBEDDING_COST = Counter("kb_embedding_cost_dollars", "What they cost.", ["space"])
PROVIDER_SECONDS = Histogram(
    "kb_provider_seconds", "Of one request to the model.", ["space", "outcome"], buckets=_SECONDS
)

SEARCH_SECONDS = Histogram("kb_search_seconds", "Of one search, by part.", ["part"], buckets=_SECONDS)
SEARCHES = Counter("kb_searches", "Searches, by how they were answered.", ["outcome"])

QUERY_LOG = Counter("kb_query_log", "Answered searches, by what became of their rows in the log.", ["outcome"])
QUERY_LOG_WAITING = Gauge("kb_query_log_waiting", "Searches that wait to be written to the log.", [])
