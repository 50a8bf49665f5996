"""The pool: textures are counted, lent again, freed, and never more than allowed."""

import gc
import sys

import moderngl
import numpy as np
import pytest

import glla
from glla.errors import LimitError, OptionError, OutOfMemoryError
from glla.gl import pool
from glla.operations.layouts.packing import identity
from glla.passes import Buffer, Draft, Storage
from tests.beside import in_thread

TEXEL = 16  # bytes


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
    assert fresh.read(fresh.write_texels(np.ones((2, 4, 1))[:, ::2])).tolist() == [[[1], [1]]] * 2
    assert fresh.read(fresh.write(np.array([[1, 2]], np.float32))).tolist() == [[[1], [2]]]


@pytest.mark.parametrize("back", ["once", "twice", "dropped", "in another thread"])
def test_what_is_given_back_is_lent_again(fresh, back):
    one = fresh.write_texels(texels(2, 3))
    assert held(fresh) == (1, 0, 6 * TEXEL, 0)
    handle = one.gl.glo
    if back == "in another thread":
        in_thread(one.release)
        assert len(fresh._pool.returned) == 1  # the owner has not looked yet
    elif back != "dropped":
        for _ in range(1 + (back == "twice")):
            one.release()
        assert one.released
    del one
    gc.collect()
    assert held(fresh) == (0, 1, 0, 6 * TEXEL) and not fresh._pool.returned
    for other in ((3, 2, 4), (2, 3, 2), (2, 3, 1), (1, 6, 4)):  # only the same storage is lent again
        kept = fresh.write_texels(texels(*other))
        assert held(fresh)[0] == 1 and kept.gl.glo != handle
        kept.release()
    idle = held(fresh)
    two = fresh.write_texels(texels(2, 3))
    assert two.gl.glo == handle
    assert held(fresh) == (1, idle[1] - 1, 6 * TEXEL, idle[3] - 6 * TEXEL)


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
        buffer = fresh._pool.acquire(Buffer.of(Storage(2, 3)))
        assert isinstance(buffer.gl, moderngl.Buffer) and buffer.gl.size == 6 * TEXEL
    assert held(fresh) == (1, 0, 6 * TEXEL, 0)
    name = buffer.gl.glo
    buffer.release()
    texture = fresh.write_texels(texels(2, 3))
    assert isinstance(texture.gl, moderngl.Texture)
    assert held(fresh)[:2] == (1, 1)
    with fresh.current():
        assert fresh._pool.acquire(Buffer.of(Storage(2, 3))).gl.glo == name
    texture.release()


def test_free_releases_what_is_idle_only(fresh):
    with fresh.current():
        buffers = [fresh._pool.acquire(Buffer.of(Storage(1, 4))) for _ in range(2)]
    kept, idle = (fresh.run(identity((side, side)))["I"] for side in (5, 7))
    gone = [buffers[1].gl, idle.gl, list(fresh._pool._framebuffers.values())[1]]
    assert fresh.stats().framebuffers == 2
    for one in (idle, buffers[1]):
        one.release()
    fresh.free()
    assert all(isinstance(gl.mglo, moderngl.InvalidObject) for gl in gone)
    assert held(fresh) == (2, 0, (9 + 4) * TEXEL, 0) and fresh.stats().framebuffers == 1
    fresh.finish()
    np.testing.assert_array_equal(fresh.download(kept, (5, 5)), np.eye(5))
    buffers[0].gl.write(bytes(64))
    fresh.run(identity((7, 7)))["I"].release()  # and all goes on


def test_peak_is_the_most_ever_held_idle_or_not(fresh):
    fresh.write_texels(texels(4, 4)).release()
    small = fresh.write_texels(texels(1, 1))
    fresh.free()
    assert fresh.stats().peak_bytes == 17 * TEXEL
    assert held(fresh) == (1, 0, TEXEL, 0)
    small.release()


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
        texture = device.write_texels(texels(5, 4))  # what is idle makes room
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
    with fresh.current():  # what GL flags is not used
        assert fresh._pool._try(Storage(1, 10**6)) is None
        assert fresh._gl.error == "GL_NO_ERROR"
    monkeypatch.setattr(type(fresh._pool), "_try", lambda pool, storage: None)
    with pytest.raises(OutOfMemoryError, match=r"of 1x1x4 \(16 bytes\), 0 bytes are in use; release matrices"):
        fresh.write_texels(texels(1, 1))


@pytest.mark.parametrize(("height", "width", "asked"), [(9, 1, 9), (1, 10, 10), (0, 3, 3)])
def test_a_texture_larger_than_the_limit(height, width, asked):
    message = "device: a texture has 1 to 8 texels a side on this device, got"
    with glla.Device(max_texture_size=8) as device:
        with pytest.raises(LimitError, match=message) as caught:
            device.write_texels(texels(height, width))
        assert (caught.value.asked, caught.value.allowed) == (asked, 8)
        assert held(device)[:2] == (0, 0)


# ---- poison ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "debug"), [("fresh", True), ("quiet", False)])
def test_debug_fills_textures_with_nan(request, kind, debug):
    device = request.getfixturevalue(kind)
    for new in (True, False):
        with device.current():
            texture = device._pool.acquire(Storage(2, 3))
        if debug or not new:  # a new one holds what lay in that memory before, perhaps NaN
            assert np.isnan(device.read(texture)).all() == debug
        texture.release()
        device.write_texels(texels(2, 3)).release()


def test_a_plan_that_is_kept_keeps_no_operand(device):
    """Nor one that it copies into a buffer: what is ready for the next run must not hold this one's textures."""
    draft = Draft("copy")
    draft.operand("A", Storage(1, 4))
    draft.transfer("A", draft.slot("copied", Buffer.of(Storage(1, 4))))
    plan, before = draft.plan({"copied": "copied"}), device.stats().textures
    device.run(plan, A=device.write_texels(texels(1, 4)))["copied"].release()
    assert device.stats().textures == before


# ---- what is kept for later --------------------------------------------------------------------------------------


@pytest.fixture
def sparing():
    """A device that keeps at most ten texels idle."""
    with glla.Device(max_idle_bytes=10 * TEXEL) as own:
        yield own


def test_idle_textures_are_bounded_and_the_oldest_goes_first(sparing):
    kept = [sparing.write_texels(texels(1, width)) for width in (4, 5, 6)]
    four, _, six = (texture.number for texture in kept)
    for place in (1, 0, 2):  # 5 + 4 fit, and 6 makes 5 go
        kept[place].release()
    assert list(sparing._pool._idle) == [four, six]
    assert held(sparing) == (0, 2, 0, 10 * TEXEL)
    sparing.write_texels(texels(1, 4)).release()  # lent again: it is the younger one now
    sparing.write_texels(texels(2, 2)).release()
    assert held(sparing)[1:] == (2, 0, 8 * TEXEL)
    assert next(iter(sparing._pool._idle)) == four
    assert sparing.stats().max_idle_bytes == 10 * TEXEL


def test_what_goes_is_released_at_once_with_its_framebuffers(sparing):
    """Even if no other call follows."""
    texture = sparing.run(identity((9, 9)))["I"]
    (framebuffer,) = sparing._pool._framebuffers.values()
    gl = texture.gl
    texture.release()
    assert isinstance(gl.mglo, moderngl.InvalidObject) and isinstance(framebuffer.mglo, moderngl.InvalidObject)
    assert held(sparing) == (0, 0, 0, 0) and sparing.stats().framebuffers == 0


@pytest.mark.parametrize("elsewhere", ["another thread", "another context"])
def test_what_cannot_go_at_once_goes_with_the_next_call(sparing, device, elsewhere):
    texture = sparing.write_texels(texels(4, 4))
    if elsewhere == "another thread":
        in_thread(texture.release)
    else:
        with device.current():
            texture.release()
    assert not isinstance(texture.gl.mglo, moderngl.InvalidObject)
    sparing.write_texels(texels(1, 1)).release()
    assert isinstance(texture.gl.mglo, moderngl.InvalidObject)
    assert held(sparing) == (0, 1, 0, TEXEL)


def test_the_bound_grows_with_recent_work_and_falls_again(fresh, monkeypatch):
    """So that what runs again finds its textures, and what ran once does not keep them for ever."""
    monkeypatch.setattr(pool, "MOST_IDLE_BYTES", 4 * TEXEL)
    monkeypatch.setattr(pool, "RECENT", 8)
    for _ in range(3):
        kept = [fresh.write_texels(texels(4, 4)) for _ in range(2)]
        numbers = {texture.number for texture in kept}
        del kept
        assert held(fresh) == (0, 2, 0, 32 * TEXEL)
        assert numbers == {1, 2}
    assert fresh.stats().max_idle_bytes == int(pool.KEPT_OF_WORK * 32 * TEXEL)
    fresh._pool._until = 8
    for _ in range(16):
        fresh.write_texels(texels(1, 1)).release()
    assert held(fresh) == (0, 1, 0, TEXEL)
    assert fresh.stats().max_idle_bytes == 4 * TEXEL
    monkeypatch.setattr(pool, "MOST_IDLE_BYTES", 100 * TEXEL)
    monkeypatch.setattr(pool, "MOST_IDLE", 3)  # their number is bounded, too
    for width in range(2, 9):
        fresh.write_texels(texels(1, width)).release()
    assert held(fresh) == (0, 3, 0, (6 + 7 + 8) * TEXEL)


def test_the_numbers_of_what_has_gone_are_forgotten(sparing, monkeypatch):
    monkeypatch.setattr(pool, "RECENT", 8)
    for width in range(2, 60):
        sparing.write_texels(texels(1, width)).release()
    assert len(sparing._pool._free) <= 2 + 8 + 1


def test_a_texture_that_the_collector_gives_back_in_the_midst_of_a_call(sparing, monkeypatch):
    """It must not change what that call goes through."""
    cycle = [sparing.write_texels(texels(1, 4))]
    cycle.append(cycle)
    del cycle
    push, callers = pool.heappush, []

    def collects(heap, number):
        callers.append(sys._getframe(1).f_code.co_name)
        if callers[-1] == "_sort_anew":
            gc.collect()
        push(heap, number)

    monkeypatch.setattr(pool, "heappush", collects)
    for width in (1, 2, 3):
        sparing.write_texels(texels(1, width)).release()
    sparing._pool._gone = pool.RECENT + 3
    sparing.write_texels(texels(1, 5)).release()
    assert callers.count("_sort_anew") == 3
    assert held(sparing) == (0, 2, 0, 9 * TEXEL)


@pytest.mark.parametrize("given", [-1, 1.5, True, "many"])
def test_bounds(given, monkeypatch):
    monkeypatch.setenv("GLLA_MAX_IDLE_BYTES", "160")
    monkeypatch.setenv("GLLA_MAX_CALL_BYTES", "3000")
    with glla.Device() as device, glla.Device(max_idle_bytes=0) as other:
        assert (device.stats().max_idle_bytes, device.stats().max_call_bytes) == (160, 3000)
        assert other.stats().max_idle_bytes == 0
    with pytest.raises(OptionError, match=r"max_idle_bytes: must be a number of bytes from 0, got .*; leave it out"):
        glla.Device(max_idle_bytes=given)
    monkeypatch.setenv("GLLA_MAX_CALL_BYTES", str(given))
    with pytest.raises(OptionError, match="GLLA_MAX_CALL_BYTES: must be a number of bytes from 0, got"):
        glla.Device()
