"""`kb dlq`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from services.cli.options import Json

if TYPE_CHECKING:
    from services.cli.dead_letter_topics import DeadLetter, DeadLetters

app = typer.Typer(no_args_is_help=True, help="Messages that a stage could not process.")

Id = Annotated[str, typer.Argument(metavar="TOPIC/OFFSET", help="As `kb dlq list` names it.")]

_COLUMNS = ("id", "code", "reason", "from", "refused_at", "replayed")


@app.command("list")
def list_dead_letters(json: Json = False) -> None:
    """List the dead letters of all groups, with origin and reason."""
    from services.cli.printing import emit, table

    emit(asyncio.run(_all()), json, lambda rows: table(rows, _COLUMNS) if rows else ("there are none",))


@app.command()
def show(id: Id, json: Json = False) -> None:
    """Show one dead letter with its headers and body."""
    from services.cli.printing import emit

    emit(asyncio.run(_one(id)), json, _lines)


@app.command()
def replay(
    id: Annotated[list[str] | None, typer.Argument(metavar="[TOPIC/OFFSET]...", help="Which ones.")] = None,
    all: Annotated[bool, typer.Option("--all", help="Every one that has not been replayed.")] = False,
    json: Json = False,
) -> None:
    """Publish dead letters again to the topics they were meant for, byte for byte as they came."""
    from schemas.codes import Code
    from services.cli.failures import CommandFailed
    from services.cli.printing import emit

    if bool(id) == all:
        raise CommandFailed(Code.REQUEST_INVALID, "name dead letters, or --all")
    replayed = asyncio.run(_replay(id or []))
    emit({"replayed": replayed}, json, lambda _: (*replayed, f"{len(replayed)} replayed"))


async def _all() -> list[dict[str, Any]]:
    async with _open() as letters:
        return [_described(letter) async for letter in letters.all()]


async def _one(id: str) -> dict[str, Any]:
    async with _open() as letters:
        letter = await _found(letters, id)
    headers = [[name, _text(value)] for name, value in letter.headers]
    key, value = _text(letter.record.key), _text(letter.record.value)
    return {**_described(letter), "key": key, "headers": headers, "value": value}


async def _replay(ids: list[str]) -> list[str]:
    done = []
    async with _open() as letters:
        if ids:
            chosen = [await _found(letters, id) for id in ids]
            for letter in chosen:
                await letters.replay(letter)
                done.append(letter.id)
            return done
        async for letter in letters.all():
            if not letter.replayed:
                await letters.replay(letter)
                done.append(letter.id)
    return done


def _open() -> DeadLetters:
    from services.cli.addresses import kafka_settings
    from services.cli.dead_letter_topics import DeadLetters
    from services.cli.settings import CommandSettings

    return DeadLetters(kafka_settings(CommandSettings()))


async def _found(letters: DeadLetters, id: str) -> DeadLetter:
    from schemas.codes import Code
    from services.cli.failures import CommandFailed

    letter = await letters.one(id)
    if letter is None:
        raise CommandFailed(Code.NOT_FOUND, f"there is no dead letter {id}")
    return letter


def _described(letter: DeadLetter) -> dict[str, Any]:
    origin = letter.origin
    return {
        "id": letter.id,
        "topic": origin.get("topic"),
        "partition": origin.get("partition"),
        "offset": origin.get("offset"),
        "from": f"{origin.get('topic')}/{origin.get('partition')}/{origin.get('offset')}",
        "group": origin.get("group"),
        "code": origin.get("code"),
        "reason": origin.get("reason"),
        "refused_at": origin.get("refused-at"),
        "bytes": len(letter.record.value or b""),
        "replayed": letter.replayed,
    }


def _text(value: bytes | None) -> str | None:
    """UTF-8, with what is none written as escapes."""
    return None if value is None else value.decode("utf-8", "backslashreplace")


def _lines(letter: dict[str, Any]) -> Iterable[str]:
    headers, value = letter.pop("headers"), letter.pop("value")
    for name, text in letter.items():
        yield f"{name}: {text}"
    for name, text in headers:
        yield f"header {name}: {text}"
    yield ""
    yield "(no value)" if value is None else value
