"""The device: runs plans, moves arrays, keeps to its thread, and turns what goes wrong into exceptions."""

import ctypes
import gc
import warnings
import weakref
from dataclasses import replace

import numpy as np
import pytest

import glla
from glla.errors import (
    AbandonedError,
    DeviceError,
    DeviceMismatchError,
    LimitError,
    OutOfMemoryError,
    PlanError,
    ReleasedError,
    ThreadError,
)
from glla.gl import default, default_device, runner, set_default_device
from glla.gl.calls import GL_COLOR_LOGIC_OP
from glla.operations import probe
from glla.operations.elimination import plu
from glla.operations.layouts import packing
from glla.operations.product import matmul
from glla.passes import COMPUTE, Block, Buffer, Draft, Limits, Plan, Region, Storage, matrix, resident
from glla.testing import assert_exact, integers, normal
from tests.beside import in_thread, spied

pytestmark = [pytest.mark.newer_gl, pytest.mark.threaded]

OTHER_THREAD = "device: belongs to the thread that made it; make a Device in this thread, or send the work to that one"
USED_LATE = "device: is used after it was released; make another Device"


def raise_flag(device):
    """Make GL raise its error flag, as a mistake in a pass would."""
    with device.current():
        device._gl.line_width = -1.0


# ---- plans -------------------------------------------------------------------------------------------------------


def test_results_are_on_loan_and_temporaries_are_not(fresh):
    a = fresh.upload(normal(6, 6, np.random.default_rng(0)))
    before = fresh.stats()
    results = fresh.run(plu.plan(resident((6, 6))), A=a)
    assert fresh.stats().textures == before.textures + len(results)
    del results
    assert fresh.stats().textures == before.textures
    before = fresh.stats()
    a, b = (fresh.upload(np.ones(shape, np.float32)) for shape in ((4, 9), (9, 4)))
    fresh.run(matmul.plan(resident((4, 9), (9, 4)), variant="virtual_cube"), A=a, B=b)
    after = fresh.stats()
    assert (after.plans - before.plans, after.passes - before.passes) == (3, 7)  # two uploads, one product of 5


def test_programs_are_kept_and_plans_made_ready_once(fresh, monkeypatch):
    for side in (3, 5):
        fresh.run(packing.identity((side, side)))
        assert fresh.stats().programs == 1
    eye = fresh.upload(np.eye(3, dtype=np.float32))
    fresh.forget()  # they are compiled again
    assert fresh.stats().programs == 0
    np.testing.assert_array_equal(fresh.download(eye, (3, 3)), np.eye(3))
    assert fresh.stats().programs == 1
    fresh.upload(np.eye(3, dtype=np.float32)).release()  # the same plan as before, made ready anew
    assert fresh.stats().programs == 2
    prepared = spied(monkeypatch, runner, "prepare", lambda plan, *_: plan)
    for size in (3, 3, 5, 3, 5):
        fresh.run(packing.identity((size, size)))
    assert prepared == [packing.identity((3, 3)), packing.identity((5, 5))]


def test_a_draw_that_llvmpipe_compiles_one_routine_for_has_the_same_bits(fresh, rng):
    """Sums of layers too, as a logic operation would replace blending; none stays enabled."""
    if not fresh._runner._one_routine:
        pytest.skip("this is not llvmpipe")
    layers = {f"layer_{i}": rng.standard_normal((3, 5, 4)).astype(np.float32) for i in range(3)}
    plans, found = [probe.blending((3, 5), 3), probe.arithmetic((3, 5))], []
    for most in (0, 1, runner.ONE_ROUTINE):
        fresh._runner._one_routine = most
        fresh._runner.forget()
        operands = {name: fresh.write_texels(layer) for name, layer in layers.items()}
        pairs = fresh.write_texels(np.ascontiguousarray(layers["layer_0"][..., :2]))
        made = fresh.run(plans[0], **operands)["sum"], fresh.run(plans[1], pairs=pairs)["result"]
        found.append([fresh.read(one).tobytes() for one in made])
        with fresh.current():
            enabled = ctypes.PYFUNCTYPE(ctypes.c_ubyte)(fresh._loader.load_opengl_function("glIsEnabled"))
            assert not enabled(GL_COLOR_LOGIC_OP)
    assert found[0] == found[1] == found[2]


def test_passes_draw_their_regions_and_blend(fresh):
    draft = Draft("corner")
    target = draft.slot("R", Storage(3, 3))
    draft.draw("packing/identity", {}, target, {"shape": (6, 6)})
    draft.draw("packing/identity", {}, target, {"shape": (0, 0)}, region=Region(1, 0, 2, 2))
    result = fresh.read(fresh.run(draft.plan({"R": "R"}))["R"])
    assert result[:, :, 3].tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 1]]
    draft = Draft("blend")
    for name in ("R", "S"):
        slot = draft.slot(name, Storage(1, 1))
        for accumulate in (False, True, True, False, True):  # blending ends with its pass
            draft.draw("packing/identity", {}, slot, {"shape": (2, 2)}, accumulate=accumulate)
    results = fresh.run(draft.plan({"R": "R", "S": "S"}))
    assert [fresh.read(results[name])[0, 0].tolist() for name in "RS"] == [[2, 0, 0, 2]] * 2


# ---- interrupted -------------------------------------------------------------------------------------------------


class Draws:
    """Counts the draws of a device that has run nothing yet, and calls something at one of them."""

    def __init__(self, device):
        device.run(probe.chain((1, 1), 1), start=device.write_texels(np.zeros((1, 1, 4))))  # tries its barriers
        self.count = 0
        self.at, self.call = 0, None
        for name in ("draw", "draw_large"):
            setattr(device.calls, name, self.counted(getattr(device.calls, name)))

    def counted(self, draw):
        def draw_and_count(*args):
            draw(*args)
            self.count += 1
            if self.count == self.at:
                self.call()

        return draw_and_count


INTERRUPTED = {
    "matmul": lambda device, a: glla.matmul(a, a, device=device, variant="inner_product"),
    "virtual cube": lambda device, a: glla.matmul(a, a, device=device, variant="virtual_cube"),
    "panels": lambda device, a: glla.matmul(np.tile(a, (7, 1)), a, device=device, variant="panel_broadcast"),
    "plu": lambda device, a: np.hstack(glla.plu(a, device=device)),
    "rref": lambda device, a: glla.rref(a, device=device)[0],
    "solve": lambda device, a: glla.solve(a, a[:, 0], device=device),
    "refined": lambda device, a: np.asarray(glla.solve(a, a[:, 0], device=device, refine=True)),
    "stack": lambda device, a: glla.inv(np.stack([a, a.T]), device=device),
}


@pytest.mark.parametrize("operation", INTERRUPTED)
def test_an_interrupted_operation_leaves_the_device_as_it_was(operation, fresh, rng):
    """Wherever it is left: no more draws, no texture on loan, no flag, and the same result afterwards."""
    run, draws, a = INTERRUPTED[operation], Draws(fresh), integers(21, 21, rng) + 30 * np.eye(21, dtype=np.float32)
    expected, passes, before = run(fresh, a), draws.count, fresh.stats().textures
    for place in sorted({1, 2, 3, passes // 2, passes - 1} - {0}):
        draws.count, draws.at, draws.call = 0, place, fresh.interrupt
        for _ in range(2):  # until it is resumed
            with pytest.raises(AbandonedError, match=": was abandoned between two passes, as the device was"):
                run(fresh, a)
            assert draws.count == place
        fresh.resume()
        gc.collect()
        assert fresh.stats().textures == before
        fresh.finish()  # raises if the error flag is set
        draws.at = 0
        np.testing.assert_array_equal(run(fresh, a), expected)


def test_a_burst_can_be_interrupted(quiet, rng):
    run, draws, a = INTERRUPTED["panels"], Draws(quiet), integers(21, 21, rng)
    expected, before = run(quiet, a), quiet.stats().textures
    draws.count, draws.at, draws.call = 0, draws.count // 2 + 1, quiet.interrupt
    with pytest.raises(AbandonedError, match=": was abandoned between two passes, as the device was"):
        run(quiet, a)
    assert draws.count == draws.at
    quiet.resume()
    assert quiet.stats().textures == before
    np.testing.assert_array_equal(run(quiet, a), expected)


@pytest.mark.parametrize(("software", "flushes"), [(True, 0), (False, 2)])
def test_a_gpu_begins_while_draws_are_issued(fresh, rng, monkeypatch, software, flushes):
    """Each burst of draws is flushed: here one for each of two chunks of the inner dimension."""
    seen = spied(monkeypatch, fresh.calls, "flush")
    monkeypatch.setattr(fresh._runner, "_limits", replace(fresh.limits, software=software))
    a, b = integers(70, 32, rng), integers(32, 3, rng)
    plan = matmul.plan(resident((70, 32), (32, 3)), variant="panel_broadcast", parameters=(("DEPTH", 16),))
    assert_exact(fresh.download(fresh.run(plan, A=fresh.upload(a), B=fresh.upload(b))["C"], (70, 3)), a @ b)
    assert len(seen) == flushes


def test_another_thread_may_interrupt(fresh, rng):
    a, draws = integers(9, 9, rng), Draws(fresh)
    assert in_thread(fresh.interrupt) is None
    with pytest.raises(AbandonedError):
        fresh.upload(a)
    assert draws.count == 0
    with fresh.uninterrupted():
        assert_exact(fresh.download(fresh.upload(a), a.shape), a)
        A, drawn = fresh.matrix(a), draws.count
    with pytest.raises(AbandonedError), glla.trace():
        glla.matmul(A, A)
    assert draws.count == drawn


# ---- transfers and uniform blocks --------------------------------------------------------------------------------

BLOCK = """
layout(std140) uniform Numbers { vec4 numbers[4]; };
layout(location = 0) out vec4 result;
void main() { result = numbers[int(gl_FragCoord.x)]; }
"""
TWO_BLOCKS = """
layout(std140) uniform One { vec4 one[1]; };
layout(std140) uniform Two { vec4 two[1]; };
layout(location = 0) out vec4 result;
void main() { result = vec4(one[0].xy, two[0].xy); }
"""
NO_EFFECT = BLOCK.replace("numbers[int(gl_FragCoord.x)]", "vec4(7.0)")


@pytest.fixture
def block(shader_files):
    """Have the shader of `block_plan` for the time of a test."""
    shader_files({"block.frag": BLOCK})


def block_plan(first=16, size=(3, 16), shader="block"):
    """Texels first to first + 3 of A, by way of a buffer."""
    draft = Draft("block")
    draft.transfer(draft.operand("A", Storage(*size)), draft.slot("b", Buffer.of(Storage(*size))))
    draft.draw(shader, {}, draft.slot("R", Storage(1, 4)), blocks={"Numbers": Block("b", first, 4)})
    return draft.plan({"R": "R"})


def two_blocks_plan(*order):
    draft = Draft("two")
    draft.transfer(draft.operand("A", Storage(1, 32)), draft.slot("b", Buffer.of(Storage(1, 32))))
    where = {"One": Block("b", 0, 1), "Two": Block("b", 16, 1)}
    draft.draw("two", {}, draft.slot("R", Storage(1, 1)), blocks={name: where[name] for name in order})
    return draft.plan({"R": "R"})


def test_a_block_reads_its_part_of_a_buffer(either, block, rng):
    for size in ((3, 16), (6, 8), (1, 48), (48, 1)):
        texels = rng.standard_normal((*size, 4), dtype=np.float32)
        a = either.write_texels(texels)
        for first in (0, 16, 32):
            found = either.read(either.run(block_plan(first, size), A=a)["R"])
            assert_exact(found.reshape(4, 4), texels.reshape(48, 4)[first : first + 4])
        assert_exact(either.read(a).reshape(48, 4), texels.reshape(48, 4))


def test_buffers_are_counted_pooled_and_freed(fresh, block, rng):
    a = fresh.write_texels(rng.standard_normal((3, 16, 4), dtype=np.float32))
    plan = block_plan()
    for _ in range(3):
        kept = fresh.run(plan, A=a)["R"]
        stats = fresh.stats()
        assert (stats.textures, stats.idle_textures) == (2, 1)  # the buffer is idle
        assert (stats.bytes, stats.idle_bytes, stats.peak_bytes) == (48 * 16 + 64, 48 * 16, 2 * 48 * 16 + 64)
        kept.release()
    fresh.free()
    stats = fresh.stats()
    assert (stats.textures, stats.idle_textures, stats.bytes, stats.idle_bytes) == (1, 0, 48 * 16, 0)
    assert_exact(fresh.read(fresh.run(plan, A=a)["R"])[0], fresh.read(a)[1, :4])


def test_a_buffer_counts_towards_the_cap(block, rng):
    """And may be longer than a texture."""
    texels = rng.standard_normal((3, 16, 4), dtype=np.float32)
    with glla.Device(max_bytes=48 * 16 + 64) as device:
        a = device.write_texels(texels)
        with pytest.raises(OutOfMemoryError, match="no memory for a buffer of 768 bytes"):
            device.run(block_plan(), A=a)
        assert device.stats().textures == 1
    with glla.Device(max_texture_size=16) as device:
        result = device.run(block_plan(32), A=device.write_texels(texels))["R"]
        assert_exact(device.read(result)[0], texels[2, :4])


def test_blocks_are_found_by_name_whatever_their_order(fresh, shader_files):
    """Both plans share a program, and which binding a block has is the program's; one left out has none."""
    shader_files({"two.frag": TWO_BLOCKS, "block.frag": NO_EFFECT})
    texels = np.zeros((1, 32, 4), np.float32)
    texels[0, 0], texels[0, 16] = 1, 2
    a = fresh.write_texels(texels)
    plans = [two_blocks_plan("One", "Two"), two_blocks_plan("Two", "One")]
    for plan in (*plans, *plans):
        assert fresh.read(fresh.run(plan, A=a)["R"])[0, 0].tolist() == [1, 1, 2, 2]
    result = fresh.run(block_plan(), A=fresh.write_texels(np.ones((3, 16, 4), np.float32)))["R"]
    assert (fresh.read(result) == 7).all()


def test_a_plan_over_the_block_limit_is_refused(fresh, block):
    most = fresh.limits.uniform_block
    draft = Draft("large")
    draft.transfer(draft.operand("A", Storage(2, most)), draft.slot("b", Buffer.of(Storage(2, most))))
    draft.draw("block", {}, draft.slot("R", Storage(1, 4)), blocks={"Numbers": Block("b", 0, most + 1)})
    with pytest.raises(LimitError, match=f"a uniform block may have {most} texels, Numbers needs {most + 1}"):
        fresh.run(draft.plan({"R": "R"}), A=fresh.write_texels(np.ones((2, most, 4), np.float32)))


# ---- running again -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", matmul.VARIANTS)
def test_a_plan_runs_again_on_whatever_textures(either, rng, variant):
    """Operands change, one may be an earlier result, results are kept or not, and freed textures' names go to others.

    More sets of textures than are remembered; names of released textures are given to new ones by GL: what was bound
    to the old ones must not be used.
    """
    if lacks := matmul.VARIANTS[variant].lacks(either.limits):
        pytest.skip(f"{variant} {lacks}")
    plan, others = matmul.plan(resident((9, 9), (9, 9)), variant=variant), []
    operands = [(either.upload(a), a) for a in (integers(9, 9, rng, limit=1) for _ in range(4))]
    kept = []
    for turn in range(30):
        (left, a), (right, b) = (operands[i] for i in rng.integers(4, size=2))
        product, expected = either.run(plan, A=left, B=right)["C"], a @ b
        if turn % 3:
            kept.append((product, expected))
        else:
            assert_exact(either.download(product, (9, 9)), expected)
        if turn % 4 == 3:
            place, a = int(rng.integers(4)), integers(9, 9, rng, limit=1)
            if all(operands[place][0] is not one for one, _ in kept):
                operands[place][0].release()
            earlier = turn % 8 == 3 and np.abs(kept[-1][1]).max() < 2**10
            operands[place] = kept[-1] if earlier else (either.upload(a), a)
        if turn % 5 == 4:
            either.free()
            assert either.stats().idle_textures == 0
            others = [either.write_texels(np.full((turn % 7 + 1, 3, 4), 5, np.float32)) for _ in range(turn % 3)]
    assert len({texture.gl.glo for texture, _ in kept}) == len(kept)
    for product, expected in kept:
        assert_exact(either.download(product, (9, 9)), expected)
    del others


def test_calls_serve_again_until_a_texture_goes(fresh):
    plan = packing.identity((5, 5))
    fresh.run(plan)["I"].release()
    (first,) = fresh._runner._prepared[plan].bound.values()
    fresh.run(plan)["I"].release()
    assert list(fresh._runner._prepared[plan].bound.values()) == [first]  # the same textures: the calls serve again
    fresh.free()
    fresh.run(plan)["I"].release()
    old, new = fresh._runner._prepared[plan].bound
    assert old != new  # whatever GL names the new one


def test_kept_calls_are_bounded_and_the_oldest_go_first():
    plans = [packing.identity((side, side)) for side in (3, 4, 5, 6)]
    with glla.Device(max_call_bytes=0) as probe:
        probe.run(plans[0])
        each = probe.stats().call_bytes  # the newest stays, whatever the bound
        probe.run(plans[1])
        assert probe.stats().call_bytes == each > 1000
        assert list(probe._runner._prepared) == [plans[1]]
    with glla.Device(max_call_bytes=3 * each) as device:
        kept = device._runner._prepared
        for plan in (*plans[:3], plans[0]):
            device.run(plan)["I"].release()
        assert set(kept) == set(plans[:3]) and device.stats().call_bytes == 3 * each
        device.run(plans[3])["I"].release()
        assert set(kept) == {plans[0], plans[3]}  # down to seven eighths of three
        for plan, side in zip(plans, (3, 4, 5, 6), strict=True):
            assert_exact(device.download(device.run(plan)["I"], (side, side)), np.eye(side))
        assert device.stats().call_bytes <= device.stats().max_call_bytes


def test_the_calls_of_a_plan_go_with_it(fresh, block):
    a = fresh.write_texels(np.ones((3, 16, 4), np.float32))
    plan = block_plan()
    gone = weakref.ref(plan)
    fresh.run(plan, A=a)["R"].release()
    assert isinstance(plan, Plan)
    del plan
    gc.collect()
    assert gone() is None
    assert len(fresh._runner._prepared) == 0


@pytest.mark.parametrize("half", [False, True])
def test_draws_of_a_burst_are_one_call(quiet, half, rng):
    a, b = integers(200, 100, rng), integers(100, 60, rng)
    counted, draws = [], Draws(quiet)
    calls_of = quiet._runner._calls_of
    quiet._runner._calls_of = lambda *args: counted.append(calls_of(*args)) or counted[-1]
    b = a.T if half else b
    for _ in range(2):
        assert_exact(glla.matmul(a, b, device=quiet, variant="panel_broadcast"), a @ b)
    groups, chunks = -(-200 // 16), -(-100 // 96)
    assert draws.count > 2 * groups * chunks
    assert max(map(len, counted)) < 80  # with those of the conversions, which are merged with it
    assert quiet._runner.passes >= draws.count  # each counts, and so do copies to buffers
    assert max(len(prepared.folded) for prepared in quiet._runner._prepared.values()) < groups
    with glla.trace() as trace:  # which sees each draw by itself
        assert_exact(glla.matmul(a, b, device=quiet, variant="panel_broadcast"), a @ b)
    assert sum(draw.shader == "matmul/panel_broadcast" for draw in trace.passes) == groups * chunks


# ---- operands ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operands", [{}, {"raw": 1, "other": 1}, {"other": 1}])
def test_operands_are_those_of_the_plan(fresh, operands):
    texture, names = fresh.write(np.ones((2, 2), np.float32)), ", ".join(map(repr, sorted(operands)))
    with pytest.raises(PlanError, match=rf"pack: operands are \['raw'\], got \[{names}\]"):
        fresh.run(packing.pack((2, 2)), **dict.fromkeys(operands, texture))
    with pytest.raises(PlanError, match="pack: operand raw must be 2x2x1, got 2x3x1"):
        fresh.run(packing.pack((2, 2)), raw=fresh.write(np.ones((2, 3), np.float32)))


def test_a_plan_is_checked_before_it_runs(fresh):
    draft = Draft("broken")
    draft.draw("packing/identity", {}, draft.slot("R", Storage(2, 2)))
    with pytest.raises(PlanError, match=r"broken: pass 0 \(packing/identity\): uniforms declared \['shape'\], given"):
        fresh.run(draft.plan({"R": "R"}))
    assert fresh.stats().textures == 0
    with glla.Device(max_texture_size=8) as device:
        with pytest.raises(LimitError, match="identity: a texture may have 8 texels a side on this device") as caught:
            device.run(packing.identity((2, 17)))
        assert (caught.value.asked, caught.value.allowed) == (9, 8)
        with pytest.raises(LimitError, match="pack: a texture may have 8 texels a side on this device, slot packed"):
            device.upload(np.ones((3, 17), np.float32))  # before it travels
        assert device.stats().peak_bytes == 0


# ---- transfer ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, -1, 10**6])
def test_a_texture_size_the_driver_does_not_have(size, monkeypatch):
    released = spied(monkeypatch, type(glla.default_device()._loader), "release")
    message = rf"device: max_texture_size must be 2 to \d+ on this device, got {size}"
    with pytest.raises(LimitError, match=message) as caught:
        glla.Device(max_texture_size=size)
    assert caught.value.asked == size and caught.value.allowed >= 1024
    assert [one.released for (one,) in released] == [True]  # no context is left


# ---- several devices ---------------------------------------------------------------------------------------------


def test_two_devices_take_turns(rng):
    """One after the other, one inside the other, and the one when the other is gone."""
    a, b = integers(9, 9, rng), integers(9, 9, rng)
    with glla.Device() as one:
        with glla.Device() as two:
            on = {device: (device.upload(a), device.upload(b)) for device in (one, two)}
            plan = matmul.plan(resident((9, 9), (9, 9)))
            products = [device.run(plan, A=on[device][0], B=on[device][1])["C"] for device in (one, two, one, two)]
            for device, product in zip((one, two, one, two), products, strict=True):
                assert_exact(device.download(product, (9, 9)), a @ b)
            assert one.stats().textures == two.stats().textures == 4
            on.clear()
            one.free()
            assert one.stats().textures == 2 and one.stats().idle_textures == 0
            assert two.stats().idle_textures > 0
            with one.current():
                here = one.upload(a)
                assert_exact(two.download(two.upload(a), (9, 9)), a)
        assert_exact(one.download(here, (9, 9)), a)


def test_a_texture_stays_on_its_device(device, fresh):
    texture = fresh.upload(np.ones((2, 2), np.float32))
    message = "device: the matrix lives on another device; copy it over"
    with pytest.raises(DeviceMismatchError, match=message):
        device.read(texture)
    with pytest.raises(DeviceMismatchError, match="unpack: operand packed lives on another device; copy it over"):
        device.download(texture, (2, 2))


# ---- threads -----------------------------------------------------------------------------------------------------


USES = {
    "stats": lambda device, texture: device.stats(),
    "finish": lambda device, texture: device.finish(),
    "free": lambda device, texture: device.free(),
    "with": lambda device, texture: device.__enter__(),
    "upload": lambda device, texture: device.upload(np.ones((2, 2), np.float32)),
    "download": lambda device, texture: device.download(texture, (2, 2)),
    "read": lambda device, texture: device.read(texture),
    "run": lambda device, texture: device.run(packing.identity((2, 2))),
}


@pytest.mark.parametrize("use", [*USES, "check", "release"])
def test_another_thread_is_refused(fresh, use):
    texture = fresh.upload(np.eye(2, dtype=np.float32))
    error = in_thread(USES.get(use, lambda device, texture: getattr(device, use)()), fresh, texture)
    assert isinstance(error, ThreadError) and str(error) == OTHER_THREAD
    assert_exact(fresh.download(texture, (2, 2)), np.eye(2))


def test_each_thread_has_its_default_device(device, monkeypatch):
    def work():
        made = [default_device(), default_device()]
        made[0].release()
        made.append(default_device())
        made[2].release()
        return made

    assert default_device() is device
    monkeypatch.setattr(default, "_warned", False)
    assert "glla.coprocessor()" in str(in_thread(work))  # warnings are errors here
    made = in_thread(work)  # once
    assert made[0] is made[1] and len({*made, device}) == 3
    assert default_device() is device


# ---- life --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("use", USES)
def test_a_released_device_is_refused(use):
    device = glla.Device()
    texture = device.upload(np.ones((2, 2), np.float32))
    device.release()
    with pytest.raises(ReleasedError) as caught:
        USES[use](device, texture)
    assert str(caught.value) == USED_LATE
    texture.release()  # which may outlive its device
    assert texture.released


def test_released_and_dropped_devices(monkeypatch):
    device = glla.Device()
    assert not device.released and device.info.renderer in repr(device)
    device.release()
    device.release()
    assert device.released and repr(device) == "<glla.Device released>"
    with pytest.raises(KeyError), glla.Device() as device:
        raise KeyError
    assert device.released
    device = glla.Device()
    device.run(packing.identity((3, 3)))
    loader, gone = device._loader, weakref.ref(device)
    del device
    gc.collect()
    assert gone() is None and loader.released
    monkeypatch.setattr(default, "_warned", True)
    assert in_thread(lambda: default_device()._loader).released  # with its thread, and nothing is said


def test_a_device_dropped_in_another_thread_says_so():
    kept = [glla.Device()]
    loader = kept[0]._loader

    def drop():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            kept.clear()
        return caught

    (one,) = in_thread(drop)
    assert one.category is ResourceWarning
    assert "was dropped in another thread than its own, and stays until the process ends; call its" in str(one.message)
    assert not loader.released
    loader.release()


def test_what_a_device_says_of_itself(device):
    info = device.info
    assert device.limits is info.limits and isinstance(info.limits, Limits)
    assert info.limits.texture_size >= 1024 and 4 <= info.limits.draw_buffers <= 8
    assert info.limits.loop_trips <= 65535 and info.limits.uniform_block >= 1024
    assert info.renderer and info.vendor and info.version and info.glsl and info.backend
    assert info.version.startswith(f"{info.limits.opengl // 100}.{info.limits.opengl // 10 % 10}")
    names = ("texture_size", "draw_buffers", "loop_trips", "uniform_block", "opengl", "buffer_texels")
    kept = {"software": info.software, "tuned": (), "rates": None}
    listed = {name: getattr(info.limits, name) for name in names} | kept
    assert info.as_dict()["limits"] == listed


# ---- GL's error flag ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of", "message"),
    [
        ("fresh", "identity: pass 0 (packing/identity): the driver reports GL_INVALID_VALUE"),
        ("quiet", "identity: the driver reports GL_INVALID_VALUE; run with GLLA_DEBUG=1 to learn which pass"),
    ],
)
def test_debug_names_the_pass_and_else_the_plan_is_named(request, of, message):
    device, plan = request.getfixturevalue(of), packing.identity((3, 3))
    device.run(plan)["I"].release()
    raise_flag(device)
    with pytest.raises(DeviceError) as caught:
        device.run(plan)
    assert str(caught.value) == message and device.stats().textures == 0
    device.run(plan)  # the flag was taken


def test_finish_and_transfers_look_at_the_flag(fresh):
    texture = fresh.write(np.ones((2, 2), np.float32))
    fresh.write(np.ones((2, 2), np.float32)).release()
    for where, call in (
        ("finish", fresh.finish),
        ("read back", lambda: fresh.read(texture)),
        ("upload", lambda: fresh.write(np.ones((2, 2), np.float32))),
    ):
        raise_flag(fresh)
        with pytest.raises(DeviceError, match=f"^{where}: the driver reports GL_INVALID_VALUE"):
            call()


@pytest.mark.parametrize(
    ("flag", "error", "message"),
    [
        (0x0505, OutOfMemoryError, "finish: the device is out of memory; release matrices, or use smaller"),
        (0x1234, DeviceError, "finish: the driver reports error 0x1234"),
    ],
)
def test_flags_are_reported(fresh, monkeypatch, flag, error, message):
    monkeypatch.setattr(fresh.calls, "get_error", lambda: flag)
    with pytest.raises(error, match=message):
        fresh.calls.check("finish")


# ---- waiting -----------------------------------------------------------------------------------------------------

RELEASES_GIL = ("finish", "flush", "client_wait_sync", "tex_sub_image", "get_tex_image")
PYTHON_API = 4  # ctypes' FUNCFLAG_PYTHONAPI: the interpreter lock is kept


@pytest.mark.parametrize("release_gil", [False, True])
def test_what_may_block_lets_other_threads_run(release_gil):
    with glla.Device(release_gil=release_gil) as device:
        assert not any(getattr(device.calls, name)._flags_ & PYTHON_API for name in RELEASES_GIL)
        assert device.calls.draw._flags_ & PYTHON_API
        assert bool(device.calls.draw_large._flags_ & PYTHON_API) is not release_gil
        assert bool(device.calls.get_error._flags_ & PYTHON_API) is not release_gil
        a, b = integers(9, 7, np.random.default_rng(1)), integers(7, 5, np.random.default_rng(2))
        assert_exact(glla.matmul(a, b, device=device), a @ b)


def test_large_draws_let_other_threads_run(fresh, monkeypatch):
    """And the one behind a large one, which may have to wait for it."""
    slow = []
    draw = fresh.calls.draw
    monkeypatch.setattr(fresh.calls, "draw_large", lambda *arguments: (slow.append(True), draw(*arguments)))
    monkeypatch.setattr(fresh.calls, "draw", lambda *arguments: (slow.append(False), draw(*arguments)))
    draft = Draft("sizes")
    last = None
    for place, rows in enumerate((31, 32, 31, 31)):  # texels, by 32
        target = draft.slot(f"T{place}", Storage(rows, 32))
        draft.draw("packing/identity", {}, target, uniforms={"shape": (2 * rows, 64)})
        last = target
    fresh.run(draft.plan({"R": last}))
    assert slow == [False, True, True, False]


def test_a_fence_is_passed(fresh, monkeypatch):
    texture = fresh.upload(normal(64, 64, np.random.default_rng(0)))
    fence = fresh.fence()
    assert fence.wait()
    assert fence.wait(0)  # a second time, at once
    fence = fresh.fence()
    fresh.finish()
    assert fence.wait(0)
    texture.release()
    fence = fresh.fence()
    with monkeypatch.context() as slow:
        slow.setattr(fresh.calls, "client_wait_sync", lambda sync, flags, nanoseconds: 0x911B)
        assert not fence.wait(0.5)  # not in time
    assert fence.wait(0.5)
    assert isinstance(in_thread(fresh.fence().wait), ThreadError)
    fence = fresh.fence()
    monkeypatch.setattr(fresh.calls, "client_wait_sync", lambda sync, flags, nanoseconds: 0x911D)
    with pytest.raises(DeviceError, match="fence: the driver cannot wait for it; the context is lost, make another"):
        fence.wait()
    monkeypatch.setattr(fresh.calls, "fence_sync", lambda condition, flags: None)
    with pytest.raises(DeviceError, match="fence: the driver gives none; call finish instead"):
        fresh.fence()


def test_the_default_device_of_a_thread_can_be_chosen(fresh):
    def work():
        with glla.Device() as device:
            set_default_device(device)
            return default_device() is device

    assert in_thread(work) is True
    assert isinstance(in_thread(set_default_device, fresh), ThreadError)  # a foreign one cannot


def test_a_pass_hands_its_step_to_the_vertex_stage(either, shader_files):
    """Several steps of one program, side by side in one target, and without one: step 0."""
    vertex = '#include "lib/fullscreen.glsl"\nflat out int number;\n'
    vertex += "void main() { gl_Position = triangle_corner(); number = step_of_pass(); }\n"
    fragment = "flat in int number;\nlayout(location = 0) out vec4 result;\n"
    fragment += "void main() { result = vec4(float(number), 1.0, 0.0, 0.0); }\n"
    shader_files({"step.vert": vertex, "step.frag": fragment})
    draft = Draft("steps")
    target = draft.slot("R", Storage(2, 6))
    steps = [0, 1, 2, 7, 1000, 1000000]
    for x, step in enumerate(steps):
        draft.draw("step", {}, target, region=Region(x, 0, 1, 2), step=step)
    found = either.read(either.run(draft.plan({"R": target}))["R"])
    assert_exact(found[:, :, 0], np.array([steps, steps], dtype=np.float32))
    assert_exact(found[:, :, 1], np.ones((2, 6), dtype=np.float32))


def test_a_device_outlives_the_modules_quietly(monkeypatch):
    """The interpreter ends: globals of modules are None already when the last device goes."""
    device = glla.Device()
    with monkeypatch.context() as late:
        for name in ("sys", "threading", "contextlib"):
            late.setattr(f"glla.gl.device.{name}", None)
        device.__del__()
    assert not device.released
    device.__del__()
    assert device.released


def test_draws_and_dispatches_take_turns(device, rng, shader_files):
    """A dispatch sees what a draw has left, a draw what a dispatch has stored, and neither takes the other's state."""
    if device.limits.opengl < COMPUTE:
        pytest.skip(f"a compute shader needs OpenGL 4.3, this device has {device.info.version}")
    shader_files(
        {
            "draw.frag": "uniform sampler2D A;\nuniform float x;\nlayout(location = 0) out vec4 result;\n"
            "void main() { result = texelFetch(A, ivec2(gl_FragCoord.xy), 0) * x; }",
            "store.comp": "layout(local_size_x = 1, local_size_y = 1) in;\nuniform sampler2D A;\nuniform float x;\n"
            "layout(rgba32f, binding = 0) writeonly uniform image2D result;\nvoid main() {\n"
            "    ivec2 at = ivec2(gl_GlobalInvocationID.xy);\n"
            "    imageStore(result, at, texelFetch(A, at, 0) + x);\n}",
        }
    )
    draft = Draft("mixed")
    front = draft.operand("A", matrix((6, 10)))
    for number in range(6):
        target = draft.slot(f"S{number}", matrix((6, 10)))
        if number % 2:
            draft.dispatch("store", {"A": front}, target, (5, 3), {"x": float(number)})
        else:
            draft.draw("draw", {"A": front}, target, {"x": 2.0})  # the same each time, so that it is set once
        front = target
    plan = draft.plan({"R": front})
    texels = rng.integers(-9, 9, (3, 5, 4)).astype(np.float32)
    for _ in range(3):
        result = device.read(device.run(plan, A=device.write_texels(texels))["R"])
        np.testing.assert_array_equal(result, ((texels * 2 + 1) * 2 + 3) * 2 + 5)
