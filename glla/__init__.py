"""glla: linear algebra on the GPU with OpenGL 3.3 fragment shaders only.

The stages of ``glla.matmul(A, B)`` of large matrices, and their files; ``shaders`` is beside this folder. Those of a
batch are in `glla.linalg`, a glossary is in `glla.operations`.

1.  ``linalg/products.py``, imported when first used: the function checks its operands (``linalg/operands.py``).
2.  ``linalg/batches.py``: small matrices run in one plan; others one by one, or in tiles (``linalg/tiling.py``).
3.  ``operations/product/matmul.py``: `choose` picks the variant by shapes and limits, `plan` adds passes to a draft.
4.  ``passes/draft.py``, ``passes/plan.py``: a plan is a list of steps over named slots; ``print(glla.plan(...))``.
5.  ``passes/check.py``: errors that OpenGL would not report are found here, before the first run of the plan.
6.  ``gl/composed.py``: the steps of a plan of plans are run: upload, pack, multiply, unpack, read back.
7.  ``gl/prepare.py``, ``gl/programs.py``, ``gl/pool.py``: shaders are compiled once, textures come from a pool.
8.  ``shaders/matmul/inner_product.frag``: a fragment sums 2x2 products over the inner dimension for its texel of C.
9.  ``gl/runner.py``: one call of glDrawArrays (``gl/calls.py``) for each pass; the first wait is the read-back.
10. ``linalg/products.py``: the array is checked for overflow and returned.
"""

from glla import linalg
from glla._version import __version__
from glla.lazily import attach

PLACES = {
    **linalg.PLACES,
    "Array": "glla.array.array:Array",
    "Coprocessor": "glla.queue:Coprocessor",
    "Coprocessors": "glla.queue:Coprocessors",
    "Device": "glla.gl:Device",
    "Form": "glla.passes:Form",
    "Kernel": "glla.kernels.kernel:Kernel",
    "Limits": "glla.passes:Limits",
    "Pending": "glla.queue:Pending",
    "applications": "glla.applications",
    "array_api": "glla.interop.namespace",
    "asarray": "glla.array.array:asarray",
    "cluster": "glla.cluster",
    "coprocessor": "glla.queue:coprocessor",
    "coprocessors": "glla.queue:coprocessors",
    "dask": "glla.dask",
    "default_device": "glla.gl:default_device",
    "devices": "glla.gl:list_egl_devices",
    "errors": "glla.errors",
    "from_dlpack": "glla.interop.dlpack:from_dlpack",
    "hybrid": "glla.hybrid",
    "iterate": "glla.passes:iterate",
    "kernel": "glla.kernels.kernel:kernel",
    "register": "glla.kernels.registering:register",
    "run": "glla.kernels.kernel:run",
    "sparse": "glla.sparse",
    "trace": "glla.tracing:trace",
    "unregister": "glla.kernels.registering:unregister",
}
"""Names that are imported when they are first used, each with its module: ``import glla`` does not import NumPy."""

ROOMS = {name: f"glla.{name}" for name in ("gl", "lab", "linalg", "passes", "testing")}
"""Modules that ``import glla`` gives access to, besides those of `PLACES`."""

__all__ = ["__version__", *PLACES]

__getattr__, __dir__ = attach(__name__, PLACES | ROOMS)
