"""The GPU and the CPU share a stream of systems, so that both end together (Brodtkorb 2007, section 4.2.4).

::

                +--> GPU's queue (a coprocessor) ---+
    systems ----+                                   +--> results, in order
                +--> CPU (LAPACK, caller's thread) -+

The thesis measures the ratio r = t_GPU / t_CPU once for each size (equation 4.46) and then runs r systems on the CPU
for each one on the GPU. Here the measured times are only the start. Each side takes the next system when it is free,
its times are updated with each system, and near the end of the stream they decide the distribution of the last systems.

- `share`: the times of both sides, and the distribution that follows. Arithmetic only.
- `memory`: measured times, kept in a file for each device.
- `tasks`: a checked system; the two sides; the benchmark.
- `host`: the CPU side, with glla's scaling and error checks.
- `stream`: the results, as an iterator; `map` makes it.
"""

from glla.hybrid.stream import Report, Stream, map

__all__ = ["Report", "Stream", "map"]
