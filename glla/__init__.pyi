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

# Written by ``python -m glla.generate``; do not edit.

from glla.array.array import Array as Array
from glla.queue import Coprocessor as Coprocessor
from glla.queue import Coprocessors as Coprocessors
from glla.gl import Device as Device
from glla.linalg.spectral.results import EighResult as EighResult
from glla.passes import Form as Form
from glla.kernels.kernel import Kernel as Kernel
from glla.passes import Limits as Limits
from glla.linalg.results import PLU as PLU
from glla.queue import Pending as Pending
from glla.linalg.results import QRResult as QRResult
from glla.linalg.results import RREF as RREF
from glla.linalg.results import RefinedSolution as RefinedSolution
from glla.linalg.spectral.results import SVDResult as SVDResult
from glla.linalg.results import SlogdetResult as SlogdetResult
from glla import applications as applications
from glla.interop import namespace as array_api
from glla.array.array import asarray as asarray
from glla import cluster as cluster
from glla.queue import coprocessor as coprocessor
from glla.queue import coprocessors as coprocessors
from glla import dask as dask
from glla.gl import default_device as default_device
from glla.gl import list_egl_devices as devices
from glla import errors as errors
from glla.linalg.plans import explain as explain
from glla.interop.dlpack import from_dlpack as from_dlpack
from glla import gl as gl
from glla import hybrid as hybrid
from glla.passes import iterate as iterate
from glla.kernels.kernel import kernel as kernel
from glla import lab as lab
from glla import linalg as linalg
from glla import passes as passes
from glla.linalg.plans import plan as plan
from glla.kernels.registering import register as register
from glla.kernels.kernel import run as run
from glla import sparse as sparse
from glla import testing as testing
from glla.tracing import trace as trace
from glla.kernels.registering import unregister as unregister
from glla._version import __version__
from glla.linalg.public import *

PLACES: dict[str, str]
ROOMS: dict[str, str]

__all__ = ["Array", "Coprocessor", "Coprocessors", "Device", "EighResult", "Form", "Kernel", "Limits", "PLU", "Pending", "QRResult", "RREF", "RefinedSolution", "SVDResult", "SlogdetResult", "__version__", "applications", "array_api", "asarray", "cho_factor", "cho_solve", "cho_solve_banded", "cholesky", "cholesky_banded", "cluster", "cond", "coprocessor", "coprocessors", "dask", "default_device", "det", "devices", "eigen_bounds", "eigh", "eigh_tridiagonal", "eigvalsh", "errors", "explain", "from_dlpack", "hybrid", "inv", "iterate", "kernel", "lstsq", "lu_factor", "lu_solve", "matmul", "matrix_rank", "null_space", "orth", "pinv", "plan", "plu", "polar", "qr", "rcond", "register", "rref", "run", "slogdet", "solve", "solve_banded", "solve_triangular", "solveh_banded", "sparse", "sqrtm", "svd", "svdvals", "trace", "unregister"]
