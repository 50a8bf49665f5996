"""glla: linear algebra on the GPU with OpenGL 3.3 fragment shaders only.

The stages of ``glla.matmul(A, B)``, and their files (`glla.linalg` has those of a batch, `glla.operations` a glossary):

1.  ``linalg/products.py``, imported when first used: the function checks its operands (``linalg/operands.py``).
2.  ``linalg/routes.py``: batches of small matrices run in one plan, others one by one, too large ones in tiles.
3.  ``operations/matmul.py``: `choose` picks the variant by shapes and limits, `plan` adds its passes to a draft.
4.  ``passes/draft.py``, ``passes/plan.py``: a plan is a list of steps over named slots; ``print(glla.plan(...))``.
5.  ``passes/check.py``: errors that OpenGL would not report are found here, before the first run of the plan.
6.  ``gl/composed.py``: the steps of a plan of plans are run: upload, pack, multiply, unpack, read back.
7.  ``gl/prepare.py``, ``gl/programs.py``, ``gl/pool.py``: shaders are compiled once, textures come from a pool.
8.  ``shaders/matmul/inner_product.frag``: a fragment sums 2x2 products over the inner dimension for its texel of C.
9.  ``gl/runner.py``: one call of glDrawArrays (``gl/calls.py``) for each pass; the first wait is the read-back.
10. ``linalg/products.py``: the array is checked for overflow and returned.
"""

from typing import TYPE_CHECKING

from glla import errors
from glla._version import __version__
from glla.array.array import Array, asarray
from glla.gl import Device, default_device, list_egl_devices
from glla.lazily import attach
from glla.linalg import public
from glla.passes import Form, Limits, iterate
from glla.passes.cache import set_max_plan_bytes

if TYPE_CHECKING:
    from glla import applications, cluster, dask, hybrid, sparse
    from glla.interop import namespace as array_api
    from glla.interop.dlpack import from_dlpack
    from glla.linalg import PLU, RREF, QRResult, RefinedSolution, SlogdetResult, explain, plan
    from glla.linalg.kernels import Kernel, kernel, run
    from glla.linalg.public import *  # noqa: F403  # the functions: a list that is written by `python -m glla.generate`
    from glla.linalg.registering import register, unregister
    from glla.queue.pending import Pending
    from glla.queue.several import Coprocessors, coprocessors
    from glla.queue.single import Coprocessor, coprocessor
    from glla.tracing import trace

PLACES = {
    **public.PLACES,
    "Coprocessor": "glla.queue:Coprocessor",
    "Coprocessors": "glla.queue:Coprocessors",
    "Kernel": "glla.linalg.kernels:Kernel",
    "PLU": "glla.linalg:PLU",
    "Pending": "glla.queue:Pending",
    "QRResult": "glla.linalg:QRResult",
    "RREF": "glla.linalg:RREF",
    "RefinedSolution": "glla.linalg:RefinedSolution",
    "SlogdetResult": "glla.linalg:SlogdetResult",
    "applications": "glla.applications",
    "array_api": "glla.interop.namespace",
    "cluster": "glla.cluster",
    "coprocessor": "glla.queue:coprocessor",
    "coprocessors": "glla.queue:coprocessors",
    "dask": "glla.dask",
    "explain": "glla.linalg:explain",
    "from_dlpack": "glla.interop.dlpack:from_dlpack",
    "hybrid": "glla.hybrid",
    "kernel": "glla.linalg.kernels:kernel",
    "plan": "glla.linalg:plan",
    "register": "glla.linalg.registering:register",
    "run": "glla.linalg.kernels:run",
    "sparse": "glla.sparse",
    "trace": "glla.tracing:trace",
    "unregister": "glla.linalg.registering:unregister",
}
"""Names that are imported when they are first used, each with its module: no program needs all of them."""

__getattr__, __dir__ = attach(__name__, PLACES)

__all__ = [
    "PLU", "RREF", "Array", "Coprocessor", "Coprocessors", "Device", "Form", "Kernel", "Limits", "Pending",
    "QRResult", "RefinedSolution", "SlogdetResult", "__version__", "applications", "array_api", "asarray", "cluster",
    "coprocessor", "coprocessors", "dask", "default_device", "errors", "explain", "from_dlpack", "hybrid", "iterate",
    "kernel", "list_egl_devices", "plan", "register", "run", "set_max_plan_bytes", "sparse", "trace", "unregister",
]  # fmt: skip
__all__ += public.__all__
