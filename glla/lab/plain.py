"""Plain data, as JSON has it."""

from __future__ import annotations

import math
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
