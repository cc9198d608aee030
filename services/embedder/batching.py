"""Cutting a list of texts into requests that a provider takes."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.codes import Code
from services.encoder.encoder import Limits
from services.encoder.errors import EncoderRefused


def weight(text: str, tokens: int) -> int:
    """What a provider may count for a text: its tokens, or its estimate of a quarter of a token for each UTF-8 byte.

    Scripts such as Chinese have more bytes than the estimate expects, long words have more tokens: the larger holds.
    """
    return max(tokens, -(-len(text.encode("utf-8", "replace")) // 4))


def plan_requests(texts: Sequence[str], token_counts: Sequence[int], limits: Limits) -> list[range]:
    """The positions of the texts of each request, in order. Each request is as full as the limits let it be.

    A text whose weight alone is above the limit of a request gets one for itself: the estimate may be too high.
    EncoderRefused (INPUT_TOO_LONG) for a text of more tokens than an input may have.
    """
    requests, first, total = [], 0, 0
    for position, (text, tokens) in enumerate(zip(texts, token_counts, strict=True)):
        if tokens > limits.max_tokens_per_input:
            reason = f"text {position} has {tokens} tokens, the model takes {limits.max_tokens_per_input}"
            raise EncoderRefused(Code.INPUT_TOO_LONG, reason, by_input=True)
        heavy = weight(text, tokens)
        if first < position and (
            position - first == limits.max_inputs or total + heavy > limits.max_tokens_per_request
        ):
            requests.append(range(first, position))
            first, total = position, 0
        total += heavy
    if first < len(texts):
        requests.append(range(first, len(texts)))
    return requests
