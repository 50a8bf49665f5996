"""The pool: textures are counted, lent again, freed, and never more than allowed."""

import gc
import threading

import moderngl
import numpy as np
import pytest

import glla
from glla.errors import LimitError, OutOfMemoryError, ReleasedError
from glla.operations.packing import identity
from glla.passes import Draft, Storage

TEXEL = 16  # bytes


@pytest.fixture
def fresh():
    """A device of its own, with nothing in its pool."""
    with glla.Device() as own:
        yield own


def texels(height, width, channels=4, value=1.0):
    return np.full((height, width, channels), value, dtype=np.float32)


def held(device):
    stats = device.stats()
    return stats.textures, stats.idle_textures, stats.bytes, stats.idle_bytes


@pytest.mark.parametrize("channels", [1, 2, 4])
def test_texels_come_back_as_they_went(fresh, rng, channels):
    sent = rng.standard_normal((3, 5, channels), dtype=np.float32)
    sent.flat[:4] = 1e-40, -0.0, np.inf, np.nan
    assert fresh.read(fresh.write_texels(sent)).tobytes() == sent.tobytes()


def test_any_texels_can_be_written(fresh):
    assert fresh.read(fresh.write_texels(np.ones((2, 4, 1))[:, ::2])).tolist() == [[[1], [1]]] * 2
    assert fresh.read(fresh.write(np.array([[1, 2]], np.float32))).tolist() == [[[1], [2]]]


def test_what_is_given_back_is_lent_again(fresh):
    one = fresh.write_texels(texels(2, 3))
    assert held(fresh) == (1, 0, 6 * TEXEL, 0)
    handle = one.gl.glo
    one.release()
    assert held(fresh) == (0, 1, 0, 6 * TEXEL)
    two = fresh.write_texels(texels(2, 3))
    assert two.gl.glo == handle
    assert held(fresh) == (1, 0, 6 * TEXEL, 0)


def test_of_several_the_smallest_name_is_lent(fresh):
    """So a plan that runs again finds the textures that it had, in whichever order they were given back."""
    textures = [fresh.write_texels(texels(2, 3)) for _ in range(5)]
    names = [texture.gl.glo for texture in textures]
    for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3]):
        for i in order:
            textures[i].release()
        assert held(fresh)[:2] == (0, 5)
        textures = [fresh.write_texels(texels(2, 3)) for _ in range(5)]
        assert [texture.gl.glo for texture in textures] == sorted(names)
    for i in (3, 1):
        textures[i].release()
    assert [fresh.write_texels(texels(2, 3)).gl.glo] == [sorted(names)[1]]


def test_a_buffer_and_a_texture_are_not_taken_for_each_other(fresh):
    with fresh.current():
        buffer = fresh._pool.acquire(Storage(2, 3, buffer=True))
        assert isinstance(buffer.gl, moderngl.Buffer) and buffer.gl.size == 6 * TEXEL
    assert held(fresh) == (1, 0, 6 * TEXEL, 0)
    name = buffer.gl.glo
    buffer.release()
    texture = fresh.write_texels(texels(2, 3))
    assert isinstance(texture.gl, moderngl.Texture)
    assert held(fresh)[:2] == (1, 1)
    with fresh.current():
        assert fresh._pool.acquire(Storage(2, 3, buffer=True)).gl.glo == name
    texture.release()


def test_free_releases_buffers(fresh):
    with fresh.current():
        kept, idle = (fresh._pool.acquire(Storage(1, 4, buffer=True)) for _ in range(2))
    gl = idle.gl
    idle.release()
    fresh.free()
    assert isinstance(gl.mglo, moderngl.InvalidObject)
    assert held(fresh) == (1, 0, 4 * TEXEL, 0)
    kept.gl.write(bytes(64))
    kept.release()


@pytest.mark.parametrize("other", [(3, 2, 4), (2, 3, 2), (2, 3, 1), (1, 6, 4)])
def test_only_the_same_storage_is_lent_again(fresh, other):
    fresh.write_texels(texels(2, 3)).release()
    kept = fresh.write_texels(texels(*other))
    assert held(fresh)[:2] == (1, 1)
    kept.release()


def test_giving_back_twice_counts_once(fresh):
    texture = fresh.write_texels(texels(2, 3))
    texture.release()
    texture.release()
    assert texture.released
    assert held(fresh)[:2] == (0, 1)


def test_dropping_gives_back(fresh):
    texture = fresh.write_texels(texels(2, 3))
    del texture
    gc.collect()
    assert held(fresh)[:2] == (0, 1)


def test_another_thread_may_give_back(fresh):
    texture = fresh.write_texels(texels(2, 3))
    thread = threading.Thread(target=texture.release)
    thread.start()
    thread.join()
    assert len(fresh._pool.returned) == 1  # the owner has not looked yet
    assert held(fresh)[:2] == (0, 1)
    assert not fresh._pool.returned


def test_free_releases_what_is_idle_only(fresh):
    kept = fresh.run(identity((5, 5)))["I"]
    fresh.run(identity((7, 7)))["I"].release()
    assert fresh.stats().framebuffers == 2
    fresh.free()
    assert held(fresh) == (1, 0, 9 * TEXEL, 0)
    assert fresh.stats().framebuffers == 1
    fresh.finish()
    np.testing.assert_array_equal(fresh.download(kept, (5, 5)), np.eye(5))
    fresh.run(identity((7, 7)))["I"].release()  # and all goes on


def test_peak_is_the_most_ever_held_idle_or_not(fresh):
    fresh.write_texels(texels(4, 4)).release()
    small = fresh.write_texels(texels(1, 1))
    fresh.free()
    assert fresh.stats().peak_bytes == 17 * TEXEL
    assert held(fresh) == (1, 0, TEXEL, 0)
    small.release()


def test_free_releases_what_gl_holds(fresh):
    texture = fresh.run(identity((5, 5)))["I"]
    framebuffers = list(fresh._pool._framebuffers.values())
    objects = [texture.gl, *framebuffers]
    texture.release()
    fresh.free()
    assert len(framebuffers) == 1
    assert all(isinstance(gl.mglo, moderngl.InvalidObject) for gl in objects)


@pytest.mark.parametrize("method", ["read", "download", "run"])
def test_a_texture_given_back_is_not_used(fresh, method):
    texture = fresh.write_texels(texels(1, 1))
    texture.release()
    call = {
        "read": lambda: fresh.read(texture),
        "download": lambda: fresh.download(texture, (2, 2)),
        "run": lambda: fresh.run(copy_plan(1), A=texture),
    }[method]
    with pytest.raises(ReleasedError, match="device: a matrix is used after it was released; keep it until"):
        call()


def copy_plan(side):
    draft = Draft("copy")
    draft.operand("A", Storage(side, side))
    draft.draw("permutation/gather", {"A": "A", "rows": "A"}, draft.slot("B", Storage(side, side)), {"shape": (1, 1)})
    return draft.plan({"B": "B"})


# ---- limits ------------------------------------------------------------------------------------------------------


def test_more_bytes_than_allowed():
    with glla.Device(max_bytes=20 * TEXEL) as device:
        kept = device.write_texels(texels(4, 4))
        with pytest.raises(OutOfMemoryError) as caught:
            device.write_texels(texels(1, 5))
        assert str(caught.value) == (
            "device: no memory for a texture of 1x5x4 (80 bytes), 256 bytes are in use of the 320 allowed; "
            "release matrices, or use smaller blocks"
        )
        assert isinstance(caught.value, MemoryError)
        assert held(device)[:2] == (1, 0)
        device.write_texels(texels(2, 2)).release()  # exactly what is allowed
        kept.release()


def test_idle_textures_make_room():
    with glla.Device(max_bytes=20 * TEXEL) as device:
        device.write_texels(texels(4, 4)).release()
        texture = device.write_texels(texels(5, 4))
        assert held(device) == (1, 0, 20 * TEXEL, 0)
        texture.release()


def test_a_plan_without_room_gives_back_what_it_had():
    draft = Draft("two")
    for name, side in (("R", 2), ("S", 5)):
        draft.draw("packing/identity", {}, draft.slot(name, Storage(side, side)), {"shape": (3, 3)})
    with glla.Device(max_bytes=20 * TEXEL) as device:
        with pytest.raises(OutOfMemoryError, match="no memory for a texture of 5x5x4"):
            device.run(draft.plan({"R": "R", "S": "S"}))
        assert held(device)[0] == 0


def test_a_driver_out_of_memory(fresh, monkeypatch):
    monkeypatch.setattr(type(fresh._pool), "_try", lambda pool, storage: None)
    with pytest.raises(OutOfMemoryError, match=r"of 1x1x4 \(16 bytes\), 0 bytes are in use; release matrices"):
        fresh.write_texels(texels(1, 1))


def test_a_texture_that_gl_flags_is_not_used(fresh):
    with fresh.current():
        assert fresh._pool._try(Storage(1, 10**6)) is None
        assert fresh._gl.error == "GL_NO_ERROR"


@pytest.mark.parametrize(("height", "width", "asked"), [(9, 1, 9), (1, 10, 10), (0, 3, 3)])
def test_a_texture_larger_than_the_limit(height, width, asked):
    with glla.Device(max_texture_size=8) as device:
        with pytest.raises(
            LimitError, match="device: a texture has 1 to 8 texels a side on this device, got"
        ) as caught:
            device.write_texels(texels(height, width))
        assert (caught.value.asked, caught.value.allowed) == (asked, 8)
        assert held(device)[:2] == (0, 0)


# ---- poison ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("debug", [True, False])
def test_debug_fills_textures_with_nan(monkeypatch, debug):
    monkeypatch.setenv("GLLA_DEBUG", "1" if debug else "0")
    with glla.Device() as device:
        for _ in range(2):  # new, and lent again
            with device.current():
                texture = device._pool.acquire(Storage(2, 3))
            assert np.isnan(device.read(texture)).all() == debug
            device.write_texels(texels(2, 3)).release()
            texture.release()
