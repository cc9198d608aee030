"""Files of named float32 tensors (safetensors): uint64 length of the header, the header in JSON, the data."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


class SafetensorsFile:
    """The file, mapped into memory."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            self._tensors = json.loads(file.read(length))
        self._data = np.memmap(path, np.uint8, mode="r", offset=8 + length)

    def floats(self, name: str) -> NDArray[np.float32]:
        """A tensor in its shape. ValueError if it is not of float32."""
        entry = self._tensors[name]
        if entry["dtype"] != "F32":
            raise ValueError(f"{name} is of {entry['dtype']}, not of F32")
        begin, end = entry["data_offsets"]
        if end - begin != 4 * math.prod(entry["shape"]):
            raise ValueError(f"{name} has {end - begin} bytes for the shape {entry['shape']}")
        return self._data[begin:end].view("<f4").reshape(entry["shape"])
