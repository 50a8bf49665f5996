"""Time the applications beside the figures of their sources, and draw them.

Restoration and window squares as `glla demo` has them: mean square errors in the six ways of the source's table 6.3,
what the border does to the FFT, seconds of every variant and of the CPU's ways at growing sides, and the source's
inversions; milliseconds of each frame, of every variant, and of NumPy. The pictures go beside the data.
"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path

from benchmarks.study import listed
from glla.lab import restoration, windows
from glla.lab.study import Report, Run, at_least, option

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


STUDY = listed(
    "applications",
    _run,
    option("--largest", type=at_least(1), default=max(restoration.SIDES), metavar="N", help="largest side timed"),
    option("--seconds", type=at_least(1), default=20, metavar="S", help="leave out longer timings (20)"),
    size=(restoration.SIDE, "rows of the picture"),
)
