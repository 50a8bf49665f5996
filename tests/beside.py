"""What happens beside a test: in another thread, in another process, or a little later."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]

PATIENCE = 20.0
"""Seconds after which something that must happen counts as a deadlock."""


def started(function: Callable[..., Any], *given: Any, name: str | None = None) -> Future[Any]:
    """Start a thread; give a future of what the function does."""
    future: Future[Any] = Future()

    def work() -> None:
        try:
            future.set_result(function(*given))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, daemon=True, name=name).start()
    return future


def in_thread(function: Callable[..., Any], *given: Any, name: str | None = None) -> Any:
    """Call a function in another thread; give its result, or the exception that it raised."""
    outcome: list[Any] = []

    def work() -> None:
        try:
            outcome.append(function(*given))
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=work, name=name)
    thread.start()
    thread.join()
    return outcome.pop()


def wait_until(condition: Callable[[], Any]) -> None:
    """Wait for what another thread does."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.001)


def spied(
    patch: pytest.MonkeyPatch, owner: Any, name: str, note: Callable[..., Any] = lambda *given: given
) -> list[Any]:
    """Have each call of a function noted, by its positional arguments; give the list."""
    seen, real = list[Any](), getattr(owner, name)

    def noted(*given: Any, **options: Any) -> Any:
        seen.append(note(*given))
        return real(*given, **options)

    patch.setattr(owner, name, noted)
    return seen


def run_python(script: str, *options: str, limit: float = 60, quiet: bool = True, **variables: str | None) -> str:
    """Run a program, which must end by itself, and quietly; give what it prints.

    Variables are set in its environment, or left out of it where they are None.
    """
    command = [sys.executable, *options, "-c", textwrap.dedent(script)]
    environment = {name: value for name, value in (os.environ | variables).items() if value is not None}
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, cwd=ROOT, env=environment)
    assert done.returncode == 0 and "Traceback" not in done.stderr and not (quiet and done.stderr), done.stderr
    return done.stdout
