"""glla: linear algebra on the GPU through nothing but OpenGL 3.3 fragment shaders."""

from glla import array_api, errors, hybrid
from glla.device import Device, default_device, list_egl_devices
from glla.explanation import explain
from glla.linalg import (
    PLU,
    RREF,
    RefinedSolution,
    SlogdetResult,
    det,
    inv,
    lu_factor,
    lu_solve,
    matmul,
    plan,
    plu,
    rcond,
    rref,
    slogdet,
    solve,
)
from glla.matrix import Matrix, asarray, from_dlpack
from glla.queue import Coprocessor, Pending, coprocessor
from glla.tracing import trace

__version__ = "0.1.0"

__all__ = [
    "PLU",
    "RREF",
    "Coprocessor",
    "Device",
    "Matrix",
    "Pending",
    "RefinedSolution",
    "SlogdetResult",
    "__version__",
    "array_api",
    "asarray",
    "coprocessor",
    "default_device",
    "det",
    "errors",
    "explain",
    "from_dlpack",
    "hybrid",
    "inv",
    "list_egl_devices",
    "lu_factor",
    "lu_solve",
    "matmul",
    "plan",
    "plu",
    "rcond",
    "rref",
    "slogdet",
    "solve",
    "trace",
]
