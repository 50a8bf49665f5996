"""Transfers through staging buffers: what goes comes back, nothing is used before the GPU is done, nothing leaks."""

import numpy as np
import pytest

import glla
from glla.errors import DeviceError, OptionError, OutOfMemoryError, ReleasedError, ShapeError
from glla.gl.calls import GL_PIXEL_PACK_BUFFER
from glla.gl.staging import staging
from glla.passes import Buffer, Storage
from glla.testing import assert_exact, normal

from .conftest import VIEWS


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (7, 3), (16, 17), (12, 30)], ids=str)
@pytest.mark.parametrize("side", [16, None])
def test_an_array_comes_back_as_it_went(rng, view, shape, side):
    sent = VIEWS[view](normal(*shape, rng))
    before = sent.copy()
    with glla.Device(max_texture_size=side) as small:
        with small.uploads(sent.size) as uploads:
            texture = uploads.upload(sent)
            download = small.download_later(texture, shape)
        texture.release()  # what is queued still reads it
        assert_exact(download.result(), before)
        assert_exact(sent, before)
        assert small.stats().textures == 0


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(3, 5), (4, 5), (3, 8), (6, 7), (20, 31)], ids=str)
def test_zeros_beside_an_array(rng, order, shape):
    sent = np.array(normal(3, 5, rng), order=order)
    expected = np.zeros(shape, np.float32)
    expected[:3, :5] = sent
    with glla.Device(max_texture_size=16) as small, small.uploads(expected.size) as uploads:
        uploads.upload(np.full(shape, np.nan, np.float32))  # what the buffers held must not show
        uploads.upload(np.full(shape, np.nan, np.float32))
        assert_exact(small.download(uploads.upload(sent, shape), shape), expected)


def test_two_buffers_serve_many_arrays(device, rng):
    sent = [normal(30, 20, rng) for _ in range(7)]
    with device.uploads(600) as uploads:
        textures = [uploads.upload(array) for array in sent]
        assert device.stats().textures >= len(sent) + 2
    downloads = [device.download_later(texture, (30, 20)) for texture in textures]
    for array, download in reversed(list(zip(sent, downloads, strict=True))):
        assert_exact(download.result(), array)


def test_arrays_and_textures_are_free_at_once(device, rng):
    """The host may write to an array, and passes to a texture, that is on its way."""
    sent = normal(30, 20, rng)
    before = sent.copy()
    with device.uploads(600) as uploads:
        texture = uploads.upload(sent)
        sent[:] = 0
        assert_exact(device.download(texture, (30, 20)), before)
    a = glla.asarray(normal(8, 8, rng), device)
    expected = a.numpy()
    download = device.download_later(a.texture, (8, 8))
    a.release()
    glla.asarray(normal(8, 8, rng), device)  # which gets the same texture
    assert_exact(download.result(), expected)


def test_an_array_larger_than_announced_is_refused(device):
    with device.uploads(6) as uploads:
        for array, shape in (((3, 3), None), ((2, 2), (3, 3)), ((2, 3), (3, 2))):
            with pytest.raises(OptionError, match="upload: 6 elements at most were asked for, got shape"):
                uploads.upload(np.ones(array, np.float32), shape)


@pytest.fixture
def download(device):
    """What is on its way to the host: [[1, 2]]; it is released at the end."""
    before = device.stats().textures
    a = glla.asarray([[1, 2]], device)
    found = device.download_later(a.texture, (1, 2))
    a.release()
    yield found
    for _ in range(2):
        found.release()
    assert device.stats().textures == before


def test_a_result_is_fetched_once(device, download):
    device.finish()
    assert download.ready()
    download.result()
    for call in (download.result, download.ready):
        with pytest.raises(ReleasedError, match="download: its result was fetched, or it was released; start another"):
            call()


def test_a_result_goes_where_it_fits(device, rng, download):
    with pytest.raises(ShapeError, match=r"download: out must have shape \(1, 2\), got \(1, 3\)"):
        download.result(np.empty((1, 3), np.float32))
    assert_exact(download.result(), [[1, 2]])
    sent, whole = normal(5, 7, rng), np.zeros((14, 10), np.float32)
    a = glla.asarray(sent, device)
    target = whole.T[2:7, 0:14:2]
    assert device.download_later(a.texture, (5, 7)).result(target) is target
    assert_exact(target.copy(), sent)
    assert np.count_nonzero(whole) == np.count_nonzero(sent)


def test_buffers_count_as_memory():
    with glla.Device(max_bytes=4 * (3 * 100 + 1)) as small:
        with small.uploads(150):
            assert small.stats().bytes == 2 * 4 * 150
            assert small.room == 4
            with pytest.raises(OutOfMemoryError, match=r"a buffer of 400 bytes"):
                small.lend(staging(100))
        assert small.room == 4 * 301
    assert glla.default_device().room is None
    with glla.Device(max_bytes=4 * 150) as small:
        with pytest.raises(OutOfMemoryError), small.uploads(100):
            pass
        assert small.stats().textures == 0


def test_staging_buffers_are_in_memory_that_the_host_reaches(monkeypatch):
    """A driver may put others into the GPU's own memory, where to map them waits for all that is queued."""
    with glla.Device() as small:
        specified = []
        monkeypatch.setattr(small._pool, "_specify", lambda name, nbytes: specified.append((name, nbytes)))
        plain = small.lend(Buffer.of(Storage(1, 7, 1)))
        assert specified == []
        buffer = small.lend(staging(7))
        assert specified == [(buffer.gl.glo, 28)]
        plain.release()
        assert small.lend(staging(7)).gl.glo != plain.gl.glo  # they do not serve for each other


def test_a_fence_is_waited_for_before_a_buffer_is_used_again(fresh, monkeypatch, rng):
    """The GPU is never done before it is asked: the third upload finds the buffer of the first one in use."""
    log = []
    for name in ("client_wait_sync", "map_buffer_range"):
        call = getattr(fresh.calls, name)
        monkeypatch.setattr(fresh.calls, name, lambda *a, call=call, name=name: log.append((name, a)) or call(*a))
    with fresh.uploads(4) as uploads:
        textures = [uploads.upload(normal(2, 2, rng)) for _ in range(3)]
    names = [name for name, _ in log]
    assert names == ["map_buffer_range", "map_buffer_range", "client_wait_sync", "map_buffer_range"]
    assert log[2][1][2] > 10**9  # nanoseconds
    assert len(textures) == 3


def test_a_driver_that_does_not_map(device, download, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(device.calls, "map_buffer_range", lambda *arguments: None)
        with pytest.raises(DeviceError, match="transfer: the driver does not map the buffer; release matrices"):
            download.result()
        with device.uploads(2) as uploads, pytest.raises(DeviceError, match="does not map"):
            uploads.upload(np.ones((1, 2), np.float32))
    assert_exact(download.result(), [[1, 2]])


def test_a_driver_that_cannot_wait(device, download, monkeypatch):
    timeouts, waits = [], 0x911B
    monkeypatch.setattr(
        device.calls, "client_wait_sync", lambda fence, flags, timeout: timeouts.append(timeout) or waits
    )
    assert not download.ready() and timeouts == [0]  # not yet
    waits = 0x911D
    with pytest.raises(DeviceError, match="fence: the driver cannot wait for it; the context is lost"):
        download.result()


def test_an_interrupt_at_a_map_leaves_no_buffer_mapped(device, monkeypatch):
    """A second map of it would fail, and so would each later call."""
    a, b = np.eye(150) + 1 / 150, np.ones((150, 3))
    expected, calls = glla.solve(a, b, device=device), device.staging._calls
    mapping = calls.map_buffer_range

    def interrupted(*given):
        mapping(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(calls, "map_buffer_range", interrupted)
    with pytest.raises(KeyboardInterrupt):
        glla.solve(a, b, device=device)
    monkeypatch.undo()
    np.testing.assert_array_equal(glla.solve(a, b, device=device), expected)


def test_a_buffer_that_an_interrupt_left_bound_takes_no_read(device):
    texture, buffer = glla.asarray([[1.0]], device=device).texture, device.lend(staging(4))
    device.staging._calls.bind_buffer(GL_PIXEL_PACK_BUFFER, buffer.gl.glo)
    assert device.read(texture)[0, 0, 0] == 1
