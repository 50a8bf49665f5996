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
    return json.dumps(plain(data), indent=1, allow_nan=False, ensure_ascii=False, default=float)


def save(data: Any, path: Path) -> None:
    """Write data as a file of JSON."""
    replace(path, written(data) + "\n")


def replace(path: Path, text: str) -> None:
    """Write a file so that a reader, or an end in between, finds the old one or the new one."""
    beside = path.with_name(f"{path.name}.part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)
