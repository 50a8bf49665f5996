"""glla.trace: every pass recorded, nothing changed, nothing left behind."""

import gc
import weakref

import numpy as np
import pytest

import glla
from glla.errors import DeviceError, ReleasedError, TraceError
from glla.gl import observe
from glla.gl.recorder import RECORD_BYTES, Recorder, unpacked
from glla.passes import Draft, Region, Storage, matrix, resident

A = [[4.0, 1.0, 2.0], [2.0, 5.0, 3.0], [1.0, 2.0, 6.0]]
B = [1.0, 2.0, 3.0]


def increment(draft, source, target, **options):
    draft.draw("ceilings/increment", {"before": source}, target, **options)


def run(device, draft, results, array):
    texture = device.write_texels(np.asarray(array, dtype=np.float32))
    return device.run(draft.plan(results), A=texture)


# ---- what is recorded ------------------------------------------------------------------------


def test_every_pass_of_every_plan(device):
    before = device.stats()
    with glla.trace() as t:
        glla.matmul(A, A, variant="virtual_cube")
        glla.lu_solve(glla.lu_factor(glla.asarray(A)), B)
    after = device.stats()
    assert len(t) == len(t.passes)
    assert len([one for one in t.passes if one.on_device]) == after.passes - before.passes
    assert t.runs == after.plans - before.plans
    assert [one.shader for one in t.passes][:8] == [
        "(upload)", "packing/pack", "(upload)", "packing/pack", "matmul/virtual_cube", "matmul/virtual_cube",
        "packing/unpack", "(read back)",
    ]  # fmt: skip
    assert {"plu[rank2, partial]", "triangular[blocked, upper]"} <= {one.operation for one in t.passes}
    assert {one.run for one in t.passes} == set(range(t.runs))
    assert all(one.shader == one.plan.steps[one.number].shader for one in t.passes if one.draw is not None)
    assert all(one.values is one.reads is one.before is None for one in t.passes)


def test_a_record(device):
    plan = glla.plan("matmul", *resident((3, 3), (3, 3)), variant="virtual_cube")
    with glla.trace() as t:
        device.run(plan, A=device.upload(np.float32(A)), B=device.upload(np.float32(A)))
    one = t.passes[-1]
    assert (one.operation, one.number, one.shader) == ("matmul[virtual_cube]", 1, "matmul/virtual_cube")
    assert (one.inputs, one.outputs) == ({"A": "A", "B": "B"}, ("C",))
    assert one.region == Region(0, 0, 2, 2)
    assert one.uniforms == {"slice": 1, "shape": (3, 3)}
    assert one.defines == {"PING_PONG": 0}
    assert one.renderer == device.info.renderer


def test_times_are_those_of_the_wall_in_software(device):
    if not device.info.software:
        pytest.skip("a GPU has its own clock")
    with glla.trace() as t:
        glla.solve(A, B)
    assert all(one.gpu is None and one.gpu_start is None and one.wall == one.seconds > 0 for one in t.passes)
    ends = [one.start + one.wall for one in t.passes]
    assert all(end <= later.start for end, later in zip(ends, t.passes[1:], strict=False))
    assert "wall time" in t.timing


def test_values_are_the_matrices(device):
    with glla.trace(values=True) as t:
        product = glla.matmul(A, A, variant="virtual_cube")
    drawn = [one for one in t.passes if one.on_device]
    packs, layers, last = drawn[:2], drawn[2:4], drawn[-1]
    assert all(np.array_equal(one.values["packed"], A) for one in packs)
    a = np.array(A)
    np.testing.assert_array_equal(layers[0].reads["A"], a)
    np.testing.assert_array_equal(layers[0].values["C"], a[:, :2] @ a[:2])
    np.testing.assert_array_equal(layers[1].before["C"], a[:, :2] @ a[:2])
    np.testing.assert_array_equal(layers[1].values["C"], a @ a)
    np.testing.assert_array_equal(last.values["raw"], product)
    assert np.isnan(layers[0].before["C"]).all()
    with pytest.raises(ValueError, match="read-only"):
        last.values["raw"][0, 0] = 1


def test_what_is_not_drawn_is_nan(device, monkeypatch):
    """Whatever an earlier plan has left in the texture."""
    device.free()
    device.write_texels(np.full((2, 2, 4), 7, dtype=np.float32)).release()
    device.write_texels(np.full((2, 2, 4), 7, dtype=np.float32)).release()
    monkeypatch.setattr(device._pool, "poison", False)
    draft = Draft("half")
    source, target = draft.operand("A", Storage(2, 2)), draft.slot("X", Storage(2, 2))
    increment(draft, source, target, region=Region(0, 1, 2, 1))
    with glla.trace(values=True) as t:
        run(device, draft, {"X": target}, np.ones((2, 2, 4)))
    values = t.passes[0].values["X"]
    assert values.shape == (2, 2, 4)
    assert np.isnan(values[0]).all()
    assert (values[1] == 2).all()
    assert t.passes[0].region == Region(0, 1, 2, 1)


def test_transfers_and_blocks_are_recorded(device):
    plan = glla.plan("matmul", *resident((20, 8), (8, 20)), variant="panel_broadcast")
    operands = {"A": device.upload(np.ones((20, 8), np.float32)), "B": device.upload(np.ones((8, 20), np.float32))}
    with glla.trace(values=True) as t:
        result = device.run(plan, **operands)
    assert len(t) == len(plan.steps)
    transfer = t.passes[2]
    assert (transfer.shader, transfer.inputs) == ("(transfer)", {"source": "panels"})
    assert (transfer.outputs, transfer.uniforms, transfer.defines) == (("panel_buffer",), {}, {})
    assert transfer.region == Region(0, 0, 384, 2)
    np.testing.assert_array_equal(transfer.values["panel_buffer"], t.passes[0].values["panels"])
    assert t.passes[3].inputs["Panel"] == "panel_buffer"
    assert (t.passes[-1].values["C"] == 8).all()
    del result


def test_a_copy_into_a_part_of_a_texture_shows_what_is_there_so_far(device):
    a = np.arange(1, 37, dtype=np.float32).reshape(6, 6) % 7
    draft = Draft("copies")
    source, target = draft.operand("A", matrix((6, 6))), draft.slot("C", matrix((6, 6)))
    for region in (Region(0, 0, 1, 3), Region(1, 1, 2, 2)):
        draft.transfer(source, target, region=region)
    given = device.upload(a)
    with glla.trace(values=True, device=device) as t:
        device.run(draft.plan({"C": target}), A=given)["C"].release()
    first, second = (one.values["C"] for one in t.passes)
    assert [str(one.region) for one in t.passes] == ["x 0:1 y 0:3", "x 1:3 y 1:3"]
    np.testing.assert_array_equal(first[:, :2], a[:, :2])
    assert np.isnan(first[:, 2:]).all()
    np.testing.assert_array_equal(second[2:, 2:], a[:4, :4])
    np.testing.assert_array_equal(second[:, :2], a[:, :2])


def test_table():
    with glla.trace() as t:
        glla.matmul(A, A, variant="inner_product")
    lines = str(t).splitlines()
    assert lines[0].split() == ["operation", "pass", "shader", "reads", "draws", "region", "(texels)", "wall", "ms",
                                "GPU", "ms"]  # fmt: skip
    assert len(lines) == 1 + len(t)
    assert "matmul/inner_product  A=A B=B" in str(t)
    assert repr(t).startswith("<glla.trace 7 passes of 5 plans>\noperation ")
    assert repr(t).splitlines()[2].startswith("matmul[inner_product] ")
    assert "\n  pack: 1 pass, " in repr(t)


@pytest.mark.parametrize(("shape", "height", "width"), [((1, 1), 1, 1), ((3, 5), 2, 3), ((4, 2), 2, 1)])
def test_unpacked(device, rng, shape, height, width):
    array = rng.standard_normal(shape, dtype=np.float32)
    texels = device.read(device.upload(array))
    assert texels.shape == (height, width, 4)
    np.testing.assert_array_equal(unpacked(texels, matrix(shape)), array)
    assert unpacked(texels, Storage(height, width)).shape == (height, width, 4)


def test_a_matrix_knows_its_shape_but_is_any_storage_of_its_size():
    assert matrix((3, 5)) == matrix((4, 6)) == Storage(2, 3)
    assert hash(matrix((3, 5))) == hash(Storage(2, 3))
    assert matrix((3, 5)).shape == (3, 5)


# ---- what is not changed ---------------------------------------------------------------------


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize(
    "work",
    [
        lambda a, b: glla.matmul(a, a),
        lambda a, b: glla.matmul(a, a, variant="panel_broadcast"),
        lambda a, b: glla.rref(np.column_stack([a, b])).matrix,
        lambda a, b: np.hstack(glla.plu(a)),
        lambda a, b: glla.solve(a, b, refine=True),
        lambda a, b: glla.inv(a),
    ],
)
def test_results_are_the_same_bit_for_bit(rng, work, values):
    a, b = rng.standard_normal((17, 17)), rng.standard_normal(17)
    plain = np.asarray(work(a, b))
    with glla.trace(values=values) as t:
        traced = np.asarray(work(a, b))
    assert len(t) > 0
    assert traced.tobytes() == plain.tobytes()
    assert np.asarray(work(a, b)).tobytes() == plain.tobytes()


def test_a_plan_that_is_not_traced_keeps_its_calls(device, monkeypatch):
    """The cached calls are not made anew, before or after a trace."""
    a = glla.asarray(np.float32(A))
    plan = glla.plan("plu", *resident((3, 3)))
    for _ in range(2):
        device.run(plan, A=a.texture)
    with glla.trace():
        device.run(plan, A=a.texture)
    monkeypatch.setattr(device._runner, "_bind", None)
    device.run(plan, A=a.texture)


def test_a_device_may_go_before_its_trace():
    with glla.trace(values=True) as t:
        device = glla.Device()
        glla.matmul(A, A, device=device)
        device.release()
    gone = weakref.ref(device)
    del device
    gc.collect()
    assert gone() is None
    assert len(t) == 4
    assert "matmul/inner_product" in str(t)


# ---- failures --------------------------------------------------------------------------------


def broken(device):
    """A plan whose second pass fails in the middle of its run."""
    draft = Draft("broken")
    first, second = draft.slot("X", Storage(2, 2)), draft.slot("Y", Storage(2, 2))
    increment(draft, draft.operand("A", Storage(2, 2)), first)
    increment(draft, first, second)
    return draft


def test_a_failing_run_restores_the_device(device, monkeypatch):
    before = device.stats()
    finish, calls = device.finish, []

    def fail():
        calls.append(None)
        if len(calls) == 2:
            raise DeviceError("pass 1: the driver is unwell")
        finish()

    with glla.trace() as t:
        with pytest.raises(DeviceError, match="unwell"), monkeypatch.context() as patch:
            patch.setattr(device, "finish", fail)
            patch.setattr(device, "gpu_clock", lambda: None)
            run(device, broken(device), {"Y": "Y"}, np.ones((2, 2, 4)))
        assert [one.number for one in t.passes] == [0]
        assert glla.matmul([[2]], [[3]]) == 6
    assert device.stats().textures == before.textures
    result = run(device, broken(device), {"Y": "Y"}, np.ones((2, 2, 4)))
    assert (device.read(result["Y"]) == 3).all()


def test_an_error_in_the_block_ends_the_trace():
    with pytest.raises(ZeroDivisionError), glla.trace() as t:
        glla.matmul(A, A)
        raise ZeroDivisionError
    with glla.trace() as second:
        glla.matmul(A, A)
    assert len(t) == len(second) == 4


def test_one_at_a_time():
    message = "^trace: one at a time in a thread, another is running; end its with block first$"
    with glla.trace() as t:
        with pytest.raises(TraceError, match=message), glla.trace():
            pass
        glla.matmul(A, A)
    assert len(t) == 4
    with pytest.raises(TraceError, match=r"^trace: serves one with block; make another for the next$"), t:
        pass


def test_the_first_observer_stays(device):
    recorder = Recorder()
    with observe(recorder), pytest.raises(TraceError), glla.trace():
        pass
    assert recorder.runs == 0


def test_released_devices_say_so():
    device = glla.Device()
    device.release()
    with glla.trace() as t, pytest.raises(ReleasedError):
        glla.matmul(A, A, device=device)
    assert len(t) == 0


# ---- memory ----------------------------------------------------------------------------------


def test_the_limit_bounds_what_is_kept():
    with glla.trace(limit=2 * RECORD_BYTES) as t:
        product = glla.matmul(A, A, variant="virtual_cube")
    assert (len(t), t.dropped) == (2, 6)
    np.testing.assert_array_equal(product, np.array(A) @ np.array(A))
    assert str(t).endswith("\n6 more passes ran beyond the limit of 2048 bytes")
