"""How both arms' candidates come into one order. What each name means is written at `fused_score` in the schema."""

from __future__ import annotations

from typing import Literal

Fusion = Literal["scores", "rrf", "dense", "keyword"]
