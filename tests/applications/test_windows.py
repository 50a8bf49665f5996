"""`glla.applications.window_squares`: what it takes, what it gives, what it refuses."""

import numpy as np
import pytest

import glla
from glla.applications import window_squares
from glla.operations.window_squares import VARIANTS, on_host


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int64", "bool", "float16", "float64", ">f4"])
def test_every_type_of_image(device, rng, dtype):
    image = rng.integers(0, 2 if dtype == "bool" else 64, (16, 21)).astype(dtype)
    found = window_squares(image, device=device)
    assert found.dtype == (np.uint16 if dtype in ("uint8", "uint16") else np.float32)
    assert (found == on_host(image.astype(np.float64))).all()
    assert (window_squares(image.T[::-1], device=device) == on_host(image.T[::-1].astype(np.float64))).all()
    assert (found == window_squares(np.asfortranarray(image), device=device)).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_array_stays_on_the_device(device, rng, variant):
    image = rng.integers(0, 200, (13, 18)).astype(np.float32)
    A = glla.asarray(image, device)
    for resident, plain in ((A, image), (A.T, image.T), (glla.asarray(image.astype(np.int32), device), image)):
        found = window_squares(resident, variant=variant)
        assert isinstance(found, glla.Array)
        assert (found.numpy() == on_host(plain)).all()
    assert (A.numpy() == image).all()


def test_limits(device, rng):
    image = rng.integers(0, 256, (9, 9)).astype(np.uint16)
    full = window_squares(image, limit=None, device=device)
    assert full.dtype == np.float32
    assert full.max() > 65535
    for limit in (0, 255, 65535):
        assert (window_squares(image, limit=limit, device=device) == np.clip(full, 0, limit)).all()
    assert window_squares(image, limit=0.5, device=device).dtype == np.float32
    assert window_squares(image, limit=10**6, device=device).dtype == np.float32
    signed = image.astype(np.int32) - 128
    assert (window_squares(signed, device=device) == on_host(signed.astype(np.float64))).all()


def test_closed_cases(device, rng):
    a = rng.integers(0, 40, (7, 7))
    assert (window_squares(a, w=7, device=device) == np.minimum(a @ a, 65535)).all()
    assert (window_squares(a, w=1, limit=None, device=device) == a * a).all()
    image = rng.integers(0, 64, (9, 9)).astype(np.float32)
    with glla.coprocessor() as gpu:  # a pending image is waited for
        assert (window_squares(gpu.asarray(image)).result() == on_host(image)).all()
