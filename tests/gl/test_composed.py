"""Plans of plans: what the device makes of calls, work of the host, and transfers between the two."""

import json
from dataclasses import replace

import numpy as np
import pytest

import glla
from glla.errors import AbandonedError, PlanError, ReleasedError, SingularMatrixError
from glla.gl import Texture
from glla.gl.composed import schedule
from glla.operations.layouts import packing
from glla.operations.product import matmul
from glla.passes import Draft, HostArray, Storage, Transfer, matrix, resident

PRODUCT = matmul.plan(resident((3, 3), (3, 3)), variant="virtual_cube")

A = np.array([[4.0, 1.0, 2.0], [2.0, 5.0, 3.0], [1.0, 2.0, 6.0]])


def upload(draft, name, array, shape):
    raw = draft.slot(f"{name}_raw", Storage(*shape, 1))
    draft.transfer(array, raw)
    return draft.call(f"pack {name}", packing.pack(shape), raw=raw)["packed"]


def read_back(draft, name, slot, shape):
    raw = draft.call(f"unpack {name}", packing.unpack(shape, (0, 0, *shape)), packed=slot)["raw"]
    array = draft.slot(name, HostArray(shape))
    draft.transfer(raw, array)
    return array


def work(draft, name, function, inputs, outputs, shape=(3, 3)):
    draft.host(name, function, inputs, dict.fromkeys(outputs, shape), flops=9)


def squares(after=lambda c: (c + 1, c - 1)):
    """Square an array on the device, then work on it; slot C is not what result C is, on purpose."""
    draft = Draft("squares")
    a = draft.operand("A", HostArray((3, 3)))
    packed = upload(draft, "A", a, (3, 3))
    c = draft.call("product", PRODUCT, A=packed, B=packed)["C"]
    back = read_back(draft, "C", c, (3, 3))
    work(draft, "shift", after, (back,), ("more", "less"))
    return draft.plan({"more": "more", "less": "less", "C": c})


def test_there_and_back(device, monkeypatch):
    before = device.stats()
    plan = squares()
    results = device.run(plan, A=A)
    assert list(results) == ["more", "less", "C"]
    np.testing.assert_array_equal(results["more"], A @ A + 1)
    np.testing.assert_array_equal(results["less"], A @ A - 1)
    np.testing.assert_array_equal(device.download(results["C"], (3, 3)), A @ A)
    assert device.stats().textures == before.textures + 1
    results["C"].release()
    assert device.stats().textures == before.textures
    assert device.stats().plans == before.plans + 5  # pack, product, unpack, the whole; and the download
    monkeypatch.setattr(type(plan), "check", None)  # a second run needs none
    np.testing.assert_array_equal(device.run(plan, A=A)["less"], A @ A - 1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_any_kind_go_up_as_float32(device, dtype, order):
    array = np.asarray(A, dtype=dtype, order=order)
    results = device.run(squares(), A=array)
    expected = array.astype(np.float32) @ array.astype(np.float32)
    assert results["more"].dtype == np.float32
    np.testing.assert_array_equal(results["less"], expected - 1)


def test_stacks_and_transposed_arrays_go_up(device, rng):
    draft = Draft("stack")
    a = draft.operand("A", HostArray((2, 3, 4)))
    back = read_back(draft, "B", upload(draft, "A", a, (6, 4)), (6, 4))
    array = rng.standard_normal((2, 3, 4), dtype=np.float32)
    np.testing.assert_array_equal(device.run(draft.plan({"B": back}), A=array)["B"], array.reshape(6, 4))
    draft = Draft("transposed")
    a, raw = draft.operand("A", HostArray((2, 3))), draft.slot("raw", Storage(3, 2, 1))
    draft.transfer(a, raw, transposed=True)
    plan = draft.plan({"packed": draft.call("pack", packing.pack((2, 3), transposed=True), raw=raw)["packed"]})
    array = np.asfortranarray(A[:2])
    np.testing.assert_array_equal(device.download(device.run(plan, A=array)["packed"], (2, 3)), array)


def test_plans_of_plans(device):
    draft = Draft("outer")
    a = draft.operand("A", HostArray((3, 3)))
    inner = draft.call("inner", squares(), A=a)
    again = draft.call("again", squares(), A=inner["less"])
    before = device.stats().textures
    result = device.run(draft.plan({"C": again["more"]}), A=A)["C"]
    square = A @ A - 1
    np.testing.assert_array_equal(result, (square @ square + 1).astype(np.float32))
    assert device.stats().textures == before
    draft = Draft("to the fourth")
    a = draft.operand("A", matrix((3, 3)))
    square = draft.call("square", PRODUCT, A=a, B=a)["C"]
    c = draft.call("fourth", PRODUCT, A=square, B=square)["C"]
    draft.host("nothing", lambda: (np.zeros((1, 1)),), (), {"unused": (1, 1)})
    a = device.upload(A.astype(np.float32))
    result = device.run(draft.plan({"C": c}), A=a)["C"]
    assert isinstance(result, Texture)
    assert not a.released
    np.testing.assert_array_equal(device.download(result, (3, 3)), A @ A @ A @ A)


def test_what_a_plan_of_plans_gives_back(device):
    """No more textures at a time than where the plans are run one after the other."""
    live = []

    def count(array):
        live.append(device.stats().textures - before)
        return (array,)

    draft = Draft("steps")
    a = draft.operand("A", HostArray((3, 3)))
    packed = upload(draft, "A", a, (3, 3))
    work(draft, "count", count, (a,), ("one",))
    c = draft.call("product", PRODUCT, A=packed, B=packed)["C"]
    work(draft, "count", count, (a,), ("two",))
    back = read_back(draft, "C", c, (3, 3))
    work(draft, "count", count, (back,), ("three",))
    before = device.stats().textures
    device.run(draft.plan({"one": "one"}), A=A)
    assert live == [1, 1, 0]
    assert device.stats().textures == before
    stages = schedule(squares())
    assert [stage.last for stage in stages] == [
        (), ("A_raw",), ("pack A.packed",), (), ("unpack C.raw",), ("C",),
    ]  # fmt: skip
    plan = squares()
    call = next(step for step in plan.steps if getattr(step, "name", "") == "product")
    before = device.stats().textures
    nameless = replace(plan, steps=(*plan.steps[:2], replace(call, results={})), results={})
    assert device.run(nameless, A=A) == {}
    assert device.stats().textures == before


# ---- failures --------------------------------------------------------------------------------


def test_an_interrupt_ends_it(device):
    def interrupt(c):
        device.interrupt()
        return c, c

    draft = Draft("interrupted")
    inner = draft.call("inner", squares(interrupt), A=draft.operand("A", HostArray((3, 3))))
    draft.call("again", squares(), A=inner["more"])
    before = device.stats().textures
    try:
        with pytest.raises(AbandonedError, match=r"^interrupted: was abandoned between two passes"):
            device.run(draft.plan({"C": inner["C"]}), A=A)
    finally:
        device.resume()
    assert device.stats().textures == before


def test_operands_must_be_those_of_the_plan(device):
    texture, gone = (device.upload(A.astype(np.float32)) for _ in range(2))
    gone.release()
    for plan, operands, message in (
        (squares(), {}, r"^squares: operands are \['A'\], got \[\]$"),
        (
            squares(),
            {"A": np.ones((3, 4))},
            r"^squares: operand A must be 3x3 of the host, got an array of shape \(3, 4",
        ),
        (squares(), {"A": texture}, "operand A must be 3x3 of the host, got 2x2x4"),
        (PRODUCT, {"A": A, "B": A}, r"^matmul.* operand A must be 2x2x4, got an array of shape \(3, 3\)"),
    ):
        with pytest.raises(PlanError, match=message):
            device.run(plan, **operands)
    with pytest.raises(ReleasedError):
        device.run(PRODUCT, A=gone, B=gone)


@pytest.mark.parametrize("error", [SingularMatrixError, KeyboardInterrupt, PlanError])
def test_an_exception_of_the_host_leaves_nothing_behind(device, error):
    def fail(c):
        if error is PlanError:
            return (c,)  # one array, where two were announced
        raise error("so it is")

    before, a = device.stats().textures, A.astype(np.float32)
    announced = r"^squares: shift gives \('more', 'less'\), its function 1 arrays$"
    with pytest.raises(error, match=announced if error is PlanError else "so it is"):
        device.run(squares(fail), A=a)
    assert device.stats().textures == before
    np.testing.assert_array_equal(device.run(squares(), A=a)["less"], A @ A - 1)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (PRODUCT.steps[0], r"^squares: step 6: a plan of plans draws nothing itself, call a plan$"),
        (Transfer("unpack C.raw", "A"), r"^squares: step 6: an operand is never written, got"),
    ],
)
def test_a_plan_of_plans_draws_nothing_itself(step, message):
    plan = squares()
    with pytest.raises(PlanError, match=message):
        schedule(replace(plan, steps=(*plan.steps, step)))


# ---- a trace of it ---------------------------------------------------------------------------


def test_a_trace_sees_all_of_it(device):
    plan = squares()
    before = device.stats()
    with glla.trace() as t:
        results = device.run(plan, A=A)
    np.testing.assert_array_equal(results["more"], A @ A + 1)
    own = [one for one in t.passes if one.plan is plan]
    assert [one.shader for one in own] == ["(upload)", "(read back)", "(host) shift"]
    assert [one.number for one in own] == [0, 4, 5]
    assert {one.run for one in own} == {0}
    assert all(one.step is plan.steps[one.number] and not one.on_device for one in own)
    assert all(not one.uniforms and not one.defines and one.values is None for one in own)
    assert (own[2].inputs, own[2].outputs) == ({"C": "C"}, ("more", "less"))
    assert own[0].inputs == {"source": "A"}
    assert [one.shader for one in t.passes] == [
        getattr(step, "shader", "") or shown for step, shown in zip(plan.flat.steps, shaders_of(plan), strict=True)
    ]
    after = device.stats()
    assert t.runs == after.plans - before.plans
    assert len(t) - len(own) == after.passes - before.passes
    assert "(host) shift" in str(t)


def shaders_of(plan):
    """Shaders as the printed plan names them, in the rows that begin with a number; others name a part."""
    rows = str(plan).splitlines()
    start = next(number for number, row in enumerate(rows) if row.startswith("pass"))
    steps = [row for row in rows[start + 1 :] if row[:1].isdigit()]
    return [row[row.index("  ") :].strip().split("  ")[0] for row in steps]


def test_a_trace_keeps_the_arrays(device, tmp_path):
    pytest.importorskip("matplotlib")
    a = A.copy()
    with glla.trace(values=True) as t:
        device.run(squares(), A=a)
    a[:] = 0  # the caller's own
    up, back, shift = (one for one in t.passes if not one.on_device)
    np.testing.assert_array_equal(up.reads["A"], A)
    np.testing.assert_array_equal(back.values["C"], A @ A)
    np.testing.assert_array_equal(shift.reads["C"], A @ A)
    np.testing.assert_array_equal(shift.values["less"], A @ A - 1)
    with pytest.raises(ValueError, match="read-only"):
        shift.values["less"][0, 0] = 1
    for suffix in ("json", "gif", "html"):
        t.save(tmp_path / f"trace.{suffix}")
        assert (tmp_path / f"trace.{suffix}").stat().st_size > 0
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [e["name"] for e in events if e.get("cat") == "host"] == ["(upload)", "(read back)", "(host) shift"]
    with glla.trace(limit=1) as full:  # which lets it run
        device.run(squares(), A=A)
    assert (len(full), full.dropped) == (1, len(squares().flat.steps) - 1)
