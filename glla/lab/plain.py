"""Plain data, as JSON has it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any


def plain(value: Any) -> Any:
    """Replace infinity and NaN, which JSON does not have, by their names.

    >>> plain({"seconds": (1.0, float("inf"))})
    {'seconds': [1.0, 'inf']}
    """
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def written(data: Any) -> str:
    """Write data as JSON, a number or a name on each line."""
    return json.dumps(plain(data), indent=1, allow_nan=False, ensure_ascii=False)


def save(data: Any, path: Path) -> None:
    """Write data as a file of JSON."""
    path.write_text(written(data) + "\n", encoding="utf-8")
