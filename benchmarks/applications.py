"""Time the applications beside the figures of their sources, and draw them.

Restoration and window squares as `glla demo` has them: mean square errors in the six ways of the source's table 6.3,
what the border does to the FFT, and seconds of every variant and of the CPU's ways at growing sides; milliseconds of
each frame, of every variant, and of NumPy. The pictures go beside the data.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.study import Data, listed, newest, warnings
from glla.lab import restoration, windows
from glla.lab.study import Report, Run, at_least, option
from glla.lab.table import markdown

PICTURES = {"restoration": "restoration.png", "windows": "windows.png"}


def _run(run: Run) -> Report:
    options = run.options
    largest = min(options.largest, 64) if run.device.info.software else options.largest
    one = Namespace(size=options.size, data=None, seconds=options.seconds, largest=largest)
    restored = restoration.STUDY.run(replace(run, options=one))
    squared = windows.STUDY.run(replace(run, options=Namespace(size=512, data=None)))

    def draw(path: Path) -> None:
        for name, report in (("restoration", restored), ("windows", squared)):
            assert report.draw is not None
            report.draw(path.with_name(PICTURES[name]))

    data = {"restoration": restored.data, "windows": squared.data}
    return Report(f"{restored.text}\n{squared.text}", data, restored.ok and squared.ok, draw)


def tables(results: Path) -> dict[str, str]:
    """Give the Markdown of restoration: errors, borders, and seconds of each device."""
    runs = newest(results, "applications")
    head, errors = restoration.errors_table(runs[-1]["restoration"])
    return {
        "errors": markdown(head[:-1], [row[:-1] for row in errors]),
        "borders": markdown(*restoration.border_table(runs[-1]["restoration"])),
        "seconds": "\n\n".join(_headed(run, *restoration.timing_table(run["restoration"])) for run in runs),
        "windows": "\n\n".join(_headed(run, *windows.sized(run["windows"]["times"])) for run in runs),
    }


def _headed(run: Data, head: Sequence[str], rows: Sequence[tuple[str, ...]]) -> str:
    mind = "".join(f" Mind: {one}." for one in warnings(run))
    return f"**{run['renderer']}**, {run['cores']} CPU cores, {run['date'][:10]}.{mind}\n\n{markdown(head, rows)}"


STUDY = listed(
    "applications",
    _run,
    option("--largest", type=at_least(1), default=max(restoration.SIDES), metavar="N", help="largest side timed"),
    option("--seconds", type=at_least(1), default=20, metavar="S", help="leave out longer timings (20)"),
    size=(restoration.SIDE, "rows of the picture"),
)
