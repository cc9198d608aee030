"""Converts the local model that the settings name, if it is new here: `python -m services.cli.converting`."""

from __future__ import annotations

import asyncio

from services.encoder.opening import open_encoder
from services.encoder.settings import EncoderSettings


async def main() -> None:
    """Open the model once; what is kept of it lies in the cache folder."""
    encoder = await open_encoder(EncoderSettings())
    if encoder is not None:
        await encoder.aclose()


if __name__ == "__main__":
    asyncio.run(main())
