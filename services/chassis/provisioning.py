"""Makes the topics of the topic table, and their dead-letter topics. Those that are there stay as they are."""

from __future__ import annotations

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError, TopicAlreadyExistsError, for_code

from schemas.codes import Code
from schemas.topics import DEAD_LETTER_RETENTION, TOPICS, Topic
from services.chassis.broker import client_options
from services.chassis.errors import DependencyDown
from services.chassis.settings import KafkaSettings

_DEAD_LETTER_BYTES = 8_388_608  # the largest message of any topic, with its origin besides


def planned(settings: KafkaSettings) -> list[NewTopic]:
    """Every topic of the table and its dead-letter topics, with their settings."""
    return [new for topic in TOPICS for new in _with_dead_letters(topic, settings)]


def _with_dead_letters(topic: Topic, settings: KafkaSettings) -> list[NewTopic]:
    def new(name: str, partitions: int, config: dict[str, str]) -> NewTopic:
        # Without compaction: a tombstone would be taken for an event without data.
        fixed = {"cleanup.policy": "delete"}
        return NewTopic(settings.topic_prefix + name, partitions, settings.replication, topic_configs=fixed | config)

    retention = {"retention.ms": str(int(topic.retention.total_seconds() * 1000))}
    aside = {
        "retention.ms": str(int(DEAD_LETTER_RETENTION.total_seconds() * 1000)),
        "max.message.bytes": str(_DEAD_LETTER_BYTES),
    }
    return [
        new(topic.name, settings.partitions or topic.partitions, retention),
        *(new(topic.dead_letter(group), 1, aside) for group in topic.consumers),
    ]


async def apply_topics(settings: KafkaSettings) -> list[str]:
    """Make what is missing; gives the names. Raises DependencyDown(BROKER_DOWN)."""
    admin = AIOKafkaAdminClient(**client_options(settings))
    try:
        await admin.start()
        there = set(await admin.list_topics())
        missing = [topic for topic in planned(settings) if topic.name not in there]
        if missing:
            _check(await admin.create_topics(missing))
        return [topic.name for topic in missing]
    except (KafkaError, OSError) as error:
        raise DependencyDown(Code.BROKER_DOWN, str(error)) from error
    finally:
        await admin.close()


def _check(response: object) -> None:
    for _, code, *_ in getattr(response, "topic_errors", ()):
        kind = for_code(code)
        if code and kind is not TopicAlreadyExistsError:
            raise kind()
