"""NumPy's functions on an Array: what runs on the device, what is refused, and DLPack."""

import inspect
import io
from operator import attrgetter

import numpy as np
import pytest

import glla
from glla import testing
from glla.array.dispatch import UFUNCS
from glla.errors import (
    ReleasedError,
    ShapeError,
    SingularMatrixError,
    UnsupportedError,
)
from glla.interop import numpy as protocols
from glla.operations.linear.elementwise import BITS, BOUNDS
from glla.registry import PUBLIC


def host(value):
    """What a function gives, on the host."""
    return value.numpy() if isinstance(value, glla.Array) else value


# Universal functions -----------------------------------------------------------------------------------------------

INVERSES = (np.arcsin, np.arccos, np.arctanh)
"""Functions of what lies between -1 and 1."""

SPECIAL = {"exp": 4, "log": 4, "sqrt": 5, "divide": 5, "power": 20}  # units roundoff that they may be off by


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
def test_universal_functions_run_on_the_device(ufunc, rng):
    a, b = np.abs(testing.normal(4, 4, rng)) + 1, testing.integers(4, 4, rng, limit=3) + np.float32(0.5)
    if ufunc in INVERSES:
        a = a / 8
    name = UFUNCS[ufunc]
    if name in BITS:
        a, b = (rng.integers(0, 31, (4, 4)).astype(np.int32) for _ in range(2))
    operands = (a, b)[: ufunc.nin]
    with np.errstate(all="ignore"):
        wide = operands if name in {*BITS, "nextafter"} else [operand.astype(np.float64) for operand in operands]
        expected = ufunc(*wide)
    left, right = (glla.asarray(one, dtype=one.dtype) for one in (a, b))
    variants = [(left, right), (left, b), (a, right)] if ufunc.nin == 2 else [(left,)]
    for operands in variants:
        result = ufunc(*operands)
        assert isinstance(result, glla.Array)
        if expected.dtype.kind != "f":
            testing.assert_exact(result.numpy(), expected, dtype=expected.dtype)
        else:
            error = np.abs(result.numpy() - expected)
            scale = a.astype(np.float64) @ np.abs(b) if ufunc is np.matmul else np.abs(expected)
            bound = max(SPECIAL.get(ufunc.__name__, 4), BOUNDS.get(name, 0)) * testing.ROUNDOFF
            assert (error <= bound * scale).all(), error / scale / testing.ROUNDOFF


def test_arrays_give_way_to_matrices(rng):
    a, b = testing.integers(3, 3, rng), testing.integers(3, 3, rng)
    for result, expected in (
        (a + glla.asarray(b), a + b),
        (a @ glla.asarray(b), a @ b),
        (np.float32(2) * glla.asarray(b), 2 * b),
    ):
        assert isinstance(result, glla.Array)
        testing.assert_exact(result.numpy(), expected)


def test_out_is_a_matrix(rng):
    a, b = testing.integers(3, 3, rng), testing.integers(3, 3, rng)
    A, C = glla.asarray(a), glla.asarray(np.zeros((3, 3)))
    assert np.add(A, b, out=C) is C
    testing.assert_exact(C.numpy(), a + b)
    assert np.matmul(A, C, out=C) is C
    testing.assert_exact(C.numpy(), a @ (a + b))
    assert np.negative(C, out=(C,)) is C
    testing.assert_exact(C.numpy(), -(a @ (a + b)))
    testing.assert_exact(A.numpy(), a)
    np.less(A, 1, out=A)
    testing.assert_exact(A.numpy(), a < 1)
    C.release()
    with pytest.raises(ReleasedError):
        np.add(A, A, out=C)


def test_reduce_of_universal_functions(rng):
    a = testing.integers(3, 5, rng)
    A = glla.asarray(a)
    testing.assert_exact(np.add.reduce(A).numpy(), a.sum(axis=0))
    testing.assert_exact(np.maximum.reduce(A, axis=1).numpy(), a.max(axis=1))
    testing.assert_exact(np.minimum.reduce(A, axis=1, keepdims=True).numpy(), a.min(axis=1, keepdims=True))
    testing.assert_exact(np.multiply.reduce(A, axis=-1).numpy(), a.prod(axis=-1))
    testing.assert_exact(np.logical_or.reduce(A == 0).numpy(), (a == 0).any(axis=0), dtype=bool)
    testing.assert_exact(np.logical_and.reduce(A).numpy(), a.all(axis=0), dtype=bool)
    assert np.add.reduce(A, axis=None).item() == a.sum()


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: np.linalg.multi_dot([a, b, b[:, :2]]), lambda a, b: np.kron(a, b), lambda a, b: np.kron(a[0], b),
        lambda a, b: np.linalg.cond(b, 1), lambda a, b: np.linalg.cond(b[np.newaxis], np.inf),
        lambda a, b: np.einsum("ij,kj->ki", a, b), lambda a, b: np.einsum("ij,j", a, b[0]),
        lambda a, b: np.median(a), lambda a, b: np.median(a, axis=0), lambda a, b: np.quantile(a, [0.1, 1], axis=-1),
        lambda a, b: np.cov(a), lambda a, b: np.cov(a[0], a[1], ddof=0), lambda a, b: np.cov(a, rowvar=False),
        lambda a, b: np.corrcoef(a), lambda a, b: np.corrcoef(a[0]),
    ],
)  # fmt: skip
def test_functions_that_combine_others(call, rng):
    a, b = rng.normal(size=(3, 4)), rng.normal(size=(4, 4))
    found = call(glla.asarray(a), glla.asarray(b))
    assert isinstance(found, glla.Array) and found.shape == np.shape(call(a, b))
    np.testing.assert_allclose(found.numpy(), call(a, b), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["float32", "int32", "bool"])
@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("ij->ji", "23"), ("ji", "23"), ("ii", "33"), ("ii->i", "33"), ("ij->", "23"), ("ij->i", "20"),
        ("iijj->ji", "2233"), ("ijij->i", "2323"), ("", ""), ("ij,jk,kl", "23 34 45"), ("ij,jk,kl->li", "23 34 45"),
        ("i,ij,j", "2 23 3"), ("i,i,i->i", "3 3 3"), ("i,j,k->kji", "2 3 4"), ("ij,ij->i", "23 23"),
        ("ii,ij->j", "33 34"), ("ij,kl->jl", "23 45"), ("bij,bjk->bik", "234 245"), ("bij,bkj,bk->bi", "234 254 25"),
        ("ij,jk,kl,lm->im", "23 32 23 32"), (",i", " 3"),
    ],
)  # fmt: skip
def test_einsum_is_numpys(text, shapes, kind, rng):
    """Of one to four operands, some of them on the host, with numbers whose sums are exact."""
    own = [rng.integers(-3, 4, [int(length) for length in shape]).astype(kind) for shape in shapes.split(" ")]
    wanted = np.einsum(text, *own)
    for place in range(len(own)):
        found = np.einsum(text, *(glla.asarray(one, dtype=kind) if at == place else one for at, one in enumerate(own)))
        testing.assert_exact(found.numpy(), wanted, dtype=wanted.dtype)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (2, 0), (0, 1, 2), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_quantiles_over_several_dimensions(axis, keepdims, rng):
    a = rng.normal(size=(3, 4, 5)).astype(np.float32)
    for call in (
        np.median,
        lambda a, **given: np.quantile(a, 0.3, **given),
        lambda a, **given: np.quantile(a, [[0, 0.7]], **given),
    ):
        found, wanted = (call(one, axis=axis, keepdims=keepdims) for one in (glla.asarray(a), a))
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6, atol=1e-6)


# Other functions ---------------------------------------------------------------------------------------------------


def written(write):
    """What is written to a file."""
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def saved(A, save=np.save, name=None):
    """An Array written to a file, and read; by its name if there are several."""
    found = np.load(io.BytesIO(written(lambda file: save(file, A))))
    return found if name is None else found[name]


CALLS = {
    np.linalg.multi_dot: lambda a, A: (np.linalg.multi_dot([a, a]), np.linalg.multi_dot([A, a])),
    np.linalg.cond: lambda a, A: (np.linalg.cond(a, 1), np.linalg.cond(A, 1)),
    np.einsum: lambda a, A: (np.einsum("ij,jk->ik", a, a), np.einsum("ij,jk->ik", A, a)),
    **{
        one: lambda a, A, one=one, more=more: (one(a, *more), one(A, *more))
        for one, more in {np.kron: [2], np.quantile: [0.3], np.median: [], np.cov: [], np.corrcoef: []}.items()
    },
    np.linalg.solve: lambda a, A: (np.linalg.solve(a, a @ a), np.linalg.solve(A, a @ a)),
    np.linalg.inv: lambda a, A: (np.linalg.inv(a), np.linalg.inv(A)),
    np.linalg.det: lambda a, A: (np.linalg.det(a), np.linalg.det(A)),
    np.linalg.slogdet: lambda a, A: (np.linalg.slogdet(a).logabsdet, np.linalg.slogdet(A).logabsdet),
    np.linalg.matrix_power: lambda a, A: (np.linalg.matrix_power(a, 3), np.linalg.matrix_power(A, 3)),
    np.linalg.matmul: lambda a, A: (a @ a, np.linalg.matmul(A, A)),
    np.linalg.norm: lambda a, A: (np.linalg.norm(a, 1, axis=0), np.linalg.norm(A, 1, axis=0)),
    np.linalg.matrix_norm: lambda a, A: (np.linalg.matrix_norm(a, ord=1), np.linalg.matrix_norm(A, ord=1)),
    np.linalg.vector_norm: lambda a, A: (np.linalg.vector_norm(a, ord=1), np.linalg.vector_norm(A, ord=1)),
    np.linalg.trace: lambda a, A: (np.linalg.trace(a, offset=1), np.linalg.trace(A, offset=1)),
    np.linalg.diagonal: lambda a, A: (np.linalg.diagonal(a, offset=1), np.linalg.diagonal(A, offset=1)),
    np.linalg.matrix_transpose: lambda a, A: (a.T, np.linalg.matrix_transpose(A)),
    np.matrix_transpose: lambda a, A: (a.T, np.matrix_transpose(A)),
    np.transpose: lambda a, A: (a.T, np.transpose(A)),
    np.dot: lambda a, A: (a @ a, np.dot(A, a)),
    np.inner: lambda a, A: (np.inner(a, a + 1), np.inner(A, A + 1)),
    np.sum: lambda a, A: (np.sum(a, 0), np.sum(A, 0)),
    np.max: lambda a, A: (np.max(a), np.max(A)),
    np.min: lambda a, A: (np.min(a, axis=1, keepdims=True), np.min(A, axis=1, keepdims=True)),
    np.amax: lambda a, A: (np.amax(a), np.amax(A)),
    np.amin: lambda a, A: (np.amin(a), np.amin(A)),
    np.mean: lambda a, A: (np.mean(a, axis=1), np.mean(A, axis=1)),
    np.trace: lambda a, A: (np.trace(a), np.trace(A)),
    np.diagonal: lambda a, A: (np.diagonal(a, 1), np.diagonal(A, 1)),
    np.copy: lambda a, A: (a, np.copy(A)),
    np.clip: lambda a, A: (np.clip(a, -1, [1, 2, 3, 4]), np.clip(A, -1, [1, 2, 3, 4])),
    np.zeros_like: lambda a, A: (np.zeros_like(a), np.zeros_like(A)),
    np.ones_like: lambda a, A: (np.ones_like(a), np.ones_like(A)),
    np.full_like: lambda a, A: (np.full_like(a, 7), np.full_like(A, 7)),
    np.shape: lambda a, A: (np.shape(a), np.shape(A)),
    np.ndim: lambda a, A: (np.ndim(a), np.ndim(A)),
    np.size: lambda a, A: ((np.size(a), np.size(a, 1)), (np.size(A), np.size(A, 1))),
    np.prod: lambda a, A: (np.prod(a, 1), np.prod(A, 1)),
    np.any: lambda a, A: (np.any(a > 7, 0), np.any(A > 7, 0)),
    np.all: lambda a, A: (np.all(a, axis=1, keepdims=True), np.all(A, axis=1, keepdims=True)),
    np.argmax: lambda a, A: (np.argmax(a, 1), np.argmax(A, 1)),
    np.argmin: lambda a, A: (np.argmin(a), np.argmin(A)),
    np.var: lambda a, A: (np.var(a, 0, ddof=1), np.var(A, 0, ddof=1)),
    np.std: lambda a, A: (np.std(a, correction=1), np.std(A, correction=1)),
    np.count_nonzero: lambda a, A: (np.count_nonzero(a, axis=1), np.count_nonzero(A, axis=1)),
    np.cumsum: lambda a, A: (np.cumsum(a, axis=1), np.cumsum(A, axis=1)),
    np.cumprod: lambda a, A: (np.cumprod(a, axis=0), np.cumprod(A, axis=0)),
    np.vdot: lambda a, A: (np.vdot(a, a), np.vdot(A, A)),
    np.outer: lambda a, A: (np.outer(a, a[0]), np.outer(A, A[0])),
    np.linalg.outer: lambda a, A: (np.linalg.outer(a[1], a[0]), np.linalg.outer(A[1], A[0])),
    np.tensordot: lambda a, A: (np.tensordot(a, a, 1), np.tensordot(A, A, 1)),
    np.linalg.tensordot: lambda a, A: (
        np.linalg.tensordot(a, a, axes=([0], [0])),
        np.linalg.tensordot(A, A, axes=([0], [0])),
    ),
    np.linalg.vecdot: lambda a, A: (np.linalg.vecdot(a, a, axis=0), np.linalg.vecdot(A, A, axis=0)),
    np.linalg.cross: lambda a, A: (np.linalg.cross(a[:3], a[1:], axis=0), np.linalg.cross(A[:3], A[1:], axis=0)),
    np.permute_dims: lambda a, A: (np.permute_dims(a, (1, 0)), np.permute_dims(A, (1, 0))),
    np.swapaxes: lambda a, A: (np.swapaxes(a, 0, -1), np.swapaxes(A, 0, -1)),
    np.moveaxis: lambda a, A: (np.moveaxis(a[None], 0, 2), np.moveaxis(A[None], 0, 2)),
    np.reshape: lambda a, A: (np.reshape(a, (2, -1)), np.reshape(A, (2, -1))),
    np.ravel: lambda a, A: (np.ravel(a), np.ravel(A)),
    np.squeeze: lambda a, A: (np.squeeze(a[:1, :, None], 0), np.squeeze(A[:1, :, None], 0)),
    np.expand_dims: lambda a, A: (np.expand_dims(a, (0, 3)), np.expand_dims(A, (0, 3))),
    np.atleast_1d: lambda a, A: (np.atleast_1d(a[0, 0]), np.atleast_1d(A[0, 0])),
    np.atleast_2d: lambda a, A: (np.atleast_2d(a[0], a)[0], np.atleast_2d(A[0], A)[0]),
    np.atleast_3d: lambda a, A: (np.atleast_3d(a[0], a, a[0, 0])[1], np.atleast_3d(A[0], A, A[0, 0])[1]),
    np.broadcast_to: lambda a, A: (np.broadcast_to(a[0], (3, 4)), np.broadcast_to(A[0], (3, 4))),
    np.broadcast_arrays: lambda a, A: (np.broadcast_arrays(a[0], a)[0], np.broadcast_arrays(A[0], A)[0]),
    np.flip: lambda a, A: (np.flip(a, (0, 1)), np.flip(A, (0, 1))),
    np.flipud: lambda a, A: (np.flipud(a), np.flipud(A)),
    np.fliplr: lambda a, A: (np.fliplr(a), np.fliplr(A)),
    np.roll: lambda a, A: (np.roll(a, (1, -2), (0, 1)), np.roll(A, (1, -2), (0, 1))),
    np.repeat: lambda a, A: (np.repeat(a, [0, 1, 2, 1], 1), np.repeat(A, [0, 1, 2, 1], 1)),
    np.tile: lambda a, A: (np.tile(a[0], (2, 3)), np.tile(A[0], (2, 3))),
    np.diff: lambda a, A: (np.diff(a, 2, prepend=a[:, :1]), np.diff(A, 2, prepend=A[:, :1])),
    np.diag: lambda a, A: (np.diag(a[0], 1), np.diag(A[0], 1)),
    np.tril: lambda a, A: (np.tril(a, -1), np.tril(A, -1)),
    np.triu: lambda a, A: (np.triu(a, 1), np.triu(A, 1)),
    np.astype: lambda a, A: (np.astype(a, np.int32), np.astype(A, np.int32)),
    np.concatenate: lambda a, A: (np.concatenate([a, a[:1]]), np.concatenate([A, a[:1]])),
    np.stack: lambda a, A: (np.stack([a, a + 1], 1), np.stack([A, A + 1], 1)),
    np.unstack: lambda a, A: (np.unstack(a, axis=1)[2], np.unstack(A, axis=1)[2]),
    np.vstack: lambda a, A: (np.vstack([a, a[0]]), np.vstack([A, A[0]])),
    np.hstack: lambda a, A: (np.hstack([a[0], a[1]]), np.hstack([A[0], A[1]])),
    np.column_stack: lambda a, A: (np.column_stack([a, a[0]]), np.column_stack([A, A[0]])),
    np.where: lambda a, A: (np.where(a > 1, a, 0), np.where(A > 1, A, 0)),
    np.nonzero: lambda a, A: (np.nonzero(a), np.nonzero(A)),
    np.around: lambda a, A: (np.around(a / 4), np.around(A / 4)),
    np.round: lambda a, A: (np.round(a / 4), np.round(A / 4)),
    np.take: lambda a, A: (np.take(a, [2, -1, 0], 1), np.take(A, [2, -1, 0], 1)),
    np.take_along_axis: lambda a, A: (
        np.take_along_axis(a, np.argsort(a, 1), 1),
        np.take_along_axis(A, np.argsort(A, 1), 1),
    ),
    np.sort: lambda a, A: (np.sort(a, 0), np.sort(A, 0)),
    np.argsort: lambda a, A: (np.argsort(a, 1, stable=True), np.argsort(A, 1, stable=True)),
    np.searchsorted: lambda a, A: (
        np.searchsorted(np.sort(a[0]), a, "right"),
        np.searchsorted(np.sort(A[0]), A, "right"),
    ),
    np.empty_like: lambda a, A: (np.empty_like(a).shape, np.empty_like(A).shape),
    np.save: lambda a, A: (a, saved(A)),
    np.savez: lambda a, A: (a, saved(A, lambda file, A: np.savez(file, a, b=A), "b")),
    np.savez_compressed: lambda a, A: (a, saved(A, np.savez_compressed, "arr_0")),
    np.savetxt: lambda a, A: (True, written(lambda file: np.savetxt(file, A, "%.1f")).startswith(b"5.0 1.0 -2.0")),
    np.iscomplexobj: lambda a, A: (np.iscomplexobj(a), np.iscomplexobj(A)),
    np.isrealobj: lambda a, A: (np.isrealobj(a), np.isrealobj(A)),
    np.append: lambda a, A: (np.append(a, [a[0]], 0), np.append(A, [a[0]], 0)),
    np.array_split: lambda a, A: (np.array_split(a, 3, 1)[1], np.array_split(A, 3, 1)[1]),
    np.split: lambda a, A: (np.split(a, [1, 3])[1], np.split(A, [1, 3])[1]),
    np.may_share_memory: lambda a, A: (True, np.may_share_memory(A, A.T)),
    np.shares_memory: lambda a, A: (False, np.shares_memory(A, a)),
    np.array_repr: lambda a, A: (True, np.array_repr(A) == repr(A)),
    np.array_str: lambda a, A: (True, np.array_str(A) == np.array_str(a)),
    np.array2string: lambda a, A: (True, np.array2string(A) == np.array2string(a)),
    np.result_type: lambda a, A: (True, np.result_type(A, np.float64) == np.float64),
    np.isclose: lambda a, A: (np.isclose(a, a.T), np.isclose(A, A.T)),
    np.array_equal: lambda a, A: (
        (True, True, False, False),
        (np.array_equal(A, A), np.array_equal(a, A), np.array_equal(A, A + 1), np.array_equal(A, A[1:])),
    ),
    np.allclose: lambda a, A: (
        (True, True, False, True),
        (np.allclose(A, A), np.allclose(a, A), np.allclose(A, A + 1), np.allclose(A, A + 1, atol=2)),
    ),
}


ON_THE_HOST = (np.save, np.savez, np.savez_compressed, np.linalg.det, np.linalg.slogdet)
"""Functions whose results are NumPy's."""


def test_every_function_is_called():
    offered = {attrgetter(one.numpy)(np) for one in PUBLIC.values() if one.numpy}
    assert protocols.FUNCTIONS.keys() <= CALLS.keys() <= protocols.FUNCTIONS.keys() | offered


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_functions_run_on_the_device(function, rng, monkeypatch):
    a = np.float32([[5, 1, -2, 0], [1, 6, 0, 2], [0, 1, 7, -3], [2, 2, 0, 8]])
    A = glla.asarray(a)
    monkeypatch.setattr(glla.Array, "__array__", lambda *_: pytest.fail("copied to the host"))
    expected, result = CALLS[function](a, A)
    assert isinstance(result, glla.Array) == (
        isinstance(expected, np.ndarray | np.generic) and function not in ON_THE_HOST
    )
    assert np.shape(result) == np.shape(expected)
    np.testing.assert_allclose(host(result), expected, rtol=1e-5, atol=1e-5)
    testing.assert_exact(A.numpy(), a)


@pytest.mark.parametrize("cut", [1, 2, 3, 7, [2], [0, 2, 2, 9], [-1]], ids=str)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_parts_are_numpys(cut, axis, rng):
    a = testing.integers(6, 8, rng)
    A = glla.asarray(a)
    for mine, expected in zip(np.array_split(A, cut, axis), np.array_split(a, cut, axis), strict=True):
        testing.assert_exact(mine.numpy(), expected)
    if a.shape[axis] % (cut if isinstance(cut, int) else 1):
        with pytest.raises(ShapeError, match=rf"^split: parts must have one length, got {a.shape[axis]} elements for"):
            np.split(A, cut, axis)
    else:
        assert [one.shape for one in np.split(A, cut, axis)] == [one.shape for one in np.split(a, cut, axis)]


def test_arrays_beside_matrices(rng):
    a, b = testing.identity(3, 3) * 2, testing.integers(3, 2, rng)
    A, B = glla.asarray(a), glla.asarray(b)
    for result in (np.linalg.solve(A, b), np.linalg.solve(a, B), np.linalg.solve(A, B)):
        assert isinstance(result, glla.Array)
        testing.assert_exact(result.numpy(), b / 2)
    testing.assert_exact(host(np.linalg.solve(A, b[:, 0])), b[:, 0] / 2)
    testing.assert_exact(np.dot(2, A).numpy(), 2 * a)


def test_errors_are_numpys():
    with pytest.raises(np.linalg.LinAlgError) as caught:
        np.linalg.inv(glla.asarray(np.ones((2, 2))))
    assert isinstance(caught.value, SingularMatrixError)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 8, -1, -2, -3])
def test_matrix_power(n):
    a = np.float32([[2, 1, 0], [0, 1, 1], [0, 0, 0.5]])
    A = glla.asarray(a)
    result = np.linalg.matrix_power(A, n)
    np.testing.assert_allclose(result.numpy(), np.linalg.matrix_power(a.astype(np.float64), n), rtol=1e-5, atol=1e-5)
    result += 1
    testing.assert_exact(A.numpy(), a)


def test_transpose_by_axes(rng):
    a = testing.normal(3, 5, rng)
    A = glla.asarray(a)
    for axes in ((1, 0), (-1, 0), [1, -2]):
        testing.assert_exact(np.transpose(A, axes).numpy(), np.ascontiguousarray(a.T))
    testing.assert_exact(np.transpose(A, (0, 1)).numpy(), a)
    testing.assert_exact(A.transpose(1, 0).numpy(), np.ascontiguousarray(a.T))
    testing.assert_exact(A.transpose(None).numpy(), np.ascontiguousarray(a.T))
    testing.assert_exact(A.transpose((0, 1)).numpy(), a)


def test_inner_takes_sequences_and_numbers(rng):
    a = testing.integers(3, 3, rng)
    A = glla.asarray(a)
    for b in (a.tolist(), tuple(map(tuple, a.tolist())), [[1, 2, 3]], [1, 2, 3], 2, np.array(2)):
        testing.assert_exact(host(np.inner(A, b)), np.inner(a, np.float32(b)))
        testing.assert_exact(host(np.inner(b, A)), np.inner(np.float32(b), a))


def test_both_names_of_the_bounds(rng):
    a = testing.integers(4, 3, rng)
    A = glla.asarray(a)
    testing.assert_exact(np.clip(A, min=-1).numpy(), a.clip(min=-1))
    testing.assert_exact(np.clip(A, min=-1, max=[1, 2, 3]).numpy(), a.clip(-1, np.float32([1, 2, 3])))
    testing.assert_exact(np.clip(A, -1, max=2).numpy(), a.clip(-1, 2))


VALUES = [0, 1, 1 + 2**-20, -1, 3e38, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("equal_nan", [False, True])
@pytest.mark.parametrize("right", VALUES)
@pytest.mark.parametrize("left", VALUES)
def test_allclose_to_infinity_and_nan(left, right, equal_nan):
    expected = np.allclose(left, right, equal_nan=equal_nan)
    A, B = (glla.asarray([[value]], check_finite=False) for value in (left, right))
    for pair in ((A, B), (A, right), (left, B), (A, [right]), ([[left]], B)):
        assert np.allclose(*pair, equal_nan=equal_nan) is expected
    for other in (B, [[right]]):
        assert np.array_equal(A, other, equal_nan=equal_nan) is np.array_equal(left, right, equal_nan=equal_nan)


def test_allclose_takes_sequences():
    A = glla.asarray([[1, 2], [3, 4]])
    assert np.allclose(A, [[1, 2], (3, 4)])
    assert np.allclose(([1, 2], [3, 4]), A)
    assert not np.allclose(A, [1, 2])
    assert np.allclose(A, [1, 2], atol=[2, 2])


@pytest.mark.parametrize(
    "call",
    [
        lambda a: np.sum(a, 0, None, None),
        lambda a: np.sum(a, axis=1, dtype=None, out=None),
        lambda a: np.sum(a, 0, None, None, True),
        lambda a: np.max(a, 1, None),
        lambda a: np.trace(a, 1, 0, 1, None, None),
        lambda a: np.diagonal(a, 1, 0, 1),
        lambda a: np.copy(a, order="K"),
        lambda a: np.zeros_like(a, dtype=None, shape=None),
        lambda a: np.clip(a, -1, 1, None),
        lambda a: np.add(a, 1, dtype=None),
        lambda a: np.negative(a, where=True, out=None),
        lambda a: np.add.reduce(a, 0, None, None, False),
    ],
)
def test_defaults_may_be_spelled_out(call, rng):
    a = testing.integers(3, 3, rng)
    testing.assert_exact(host(call(glla.asarray(a))), call(a))


def test_functions_without_a_signature(monkeypatch):
    """Those that are written in C have none before NumPy 2.4."""
    A, signature = glla.asarray(np.eye(2)), inspect.signature

    def of_python_only(function):
        if function is np.dot:
            raise ValueError("no signature found")
        return signature(function)

    monkeypatch.setattr(inspect, "signature", of_python_only)
    with pytest.raises(UnsupportedError, match=r"^numpy.dot: takes .*, got an unexpected keyword argument 'out'; "):
        np.dot(A, A, out=A)


class Foreign:
    """An array of another library, which takes part in NumPy's protocols."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return NotImplemented

    def __array_function__(self, function, types, args, kwargs):
        return "foreign"


def test_other_libraries_have_their_say():
    assert np.dot(glla.asarray(np.eye(2)), Foreign()) == "foreign"


class Apart:
    """Keeps out of NumPy's functions and brings its own operators (NEP 13)."""

    __array_ufunc__ = None

    def __radd__(self, other):
        return "added apart"

    def __rmatmul__(self, other):
        return "multiplied apart"

    def __gt__(self, other):
        return "compared apart"


def test_classes_with_operators_of_their_own():
    matrix, other = glla.asarray(np.eye(2)), Apart()
    assert matrix + other == "added apart"
    assert matrix @ other == "multiplied apart"
    assert (matrix < other) == "compared apart"
    with pytest.raises(TypeError, match="unsupported operand"):
        matrix - other
    matrix += other
    assert matrix == "added apart"


class Pending:
    """A result that is not computed yet, which takes calls over."""

    @staticmethod
    def __glla_function__(name, function, args, kwargs):
        return name

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return f"{ufunc.__name__} later"

    def __radd__(self, other):
        return "added later"


def test_pending_results_have_their_say():
    A = glla.asarray(np.eye(2))
    assert A + Pending() == "added later"
    assert np.add(A, Pending()) == "add later"
    assert np.arctan2(A, Pending()) == "arctan2 later"
    assert glla.solve(A, Pending()) == "solve"
    for name in ("sub", "mul", "truediv", "pow", "matmul", "eq", "ne", "lt", "le", "gt", "ge", "iadd", "imatmul"):
        assert getattr(A, f"__{name}__")(Pending()) is NotImplemented
    for name in ("radd", "rsub", "rmul", "rtruediv", "rpow", "rmatmul"):
        assert getattr(A, f"__{name}__")(Pending()) is NotImplemented


# DLPack ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (0, 3)], ids=str)
def test_dlpack_to_the_host(shape, rng):
    a = testing.normal(*shape, rng)
    A = glla.asarray(a)
    assert A.__dlpack_device__() == (1, 0)
    result = np.from_dlpack(A)
    testing.assert_exact(result, a)
    testing.assert_exact(np.from_dlpack(A.T, device="cpu"), np.ascontiguousarray(a.T))
    assert np.from_dlpack(A, copy=True).base is not None or a.size == 0
    result = np.array(result)
    result[:] = 0
    testing.assert_exact(A.numpy(), a)


@pytest.mark.parametrize(
    "make", [lambda a: a, np.asfortranarray, lambda a: a.astype(np.float64), lambda a: a[::-1, ::2]]
)
def test_dlpack_from_the_host(make, rng):
    a = make(testing.normal(5, 7, rng))
    A = glla.from_dlpack(a)
    testing.assert_exact(A.numpy(), np.ascontiguousarray(a.astype(np.float32)))
    kept = A.numpy()
    a[:] = 0
    testing.assert_exact(A.numpy(), kept)
    assert glla.from_dlpack(A) is A


@pytest.mark.parametrize("shape", [(), (3,), (2, 3, 4), (0,), (2, 0, 3)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_dlpack_of_every_shape_and_type(shape, dtype, rng):
    a = rng.integers(0, 3, shape).astype(dtype)
    A = glla.from_dlpack(a, dtype=dtype)
    testing.assert_exact(A.numpy(), a, dtype=a.dtype)
    testing.assert_exact(np.from_dlpack(A), a, dtype=a.dtype)
    assert glla.from_dlpack(a).dtype == np.float32


def test_quantiles_and_conditions_at_their_ends(device):
    """Shapes of q, NaN that a computation left, and a singular matrix, as NumPy has them."""
    a = np.array([[3, 1, 2, 9], [5, 8, 6, 7]], dtype=np.float32)
    A, q = glla.asarray(a, device), [[0.1, 0.5], [0.25, 1]]
    for axis in (None, 0, 1):
        np.testing.assert_allclose(np.quantile(A, q, axis=axis).numpy(), np.quantile(a, q, axis=axis), rtol=1e-6)
    left = np.where(A == 8, np.nan, A)
    np.testing.assert_array_equal(np.median(left, axis=1).numpy(), [2.5, np.nan])
    assert np.isnan(np.median(left).numpy())
    assert np.linalg.cond(glla.asarray(np.ones((3, 3)), device), 1).numpy() == np.inf
