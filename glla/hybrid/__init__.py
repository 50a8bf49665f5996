"""The GPU and the CPU share a stream of systems, so that both end together (Brodtkorb 2007, section 4.2.4).

::

                +--> GPU's queue (a coprocessor) ---+
    systems ----+                                   +--> results, in order
                +--> CPU (LAPACK, caller's thread) -+

The thesis measures the ratio r = t_GPU / t_CPU once for each size (equation 4.46) and then does r systems on the CPU
for each one on the GPU. Here the measured times are where it starts from. Each side takes the next system when it is
free, its times are corrected by what it takes, and near the end of the stream they decide who does the last systems.

- `share`: how long either side takes, and what follows from it. Arithmetic only.
- `memory`: what was measured, kept in a file for each device.
- `tasks`: a system that was checked; the sides that work; the benchmark.
- `host`: the CPU side, with glla's manners.
- `stream`: the results, as an iterator; `map` makes it.
"""

from glla.hybrid.stream import Report, Stream, map

__all__ = ["Report", "Stream", "map"]
