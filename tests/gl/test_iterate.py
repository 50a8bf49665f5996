"""Loops on the device: the same results whenever the host looks, the right count, and no texture left."""

import threading

import numpy as np
import pytest

import glla
from glla.errors import AbandonedError, DeviceError, OptionError, PlanError
from glla.gl import iterate as engine
from glla.gl.staging import Staging
from glla.operations import elementwise, reduce
from glla.operations.layouts import packing
from glla.operations.product import matmul
from glla.passes import Draft, HostArray, Loop, Storage, matrix, resident, shared
from tests.beside import spied

ONE = matrix((1, 1))
NUMBER = elementwise.binary((1, 1), "add")
LENGTHS = [1, 2, 7, 64]  # of blocks


def operation(name):
    return elementwise.binary((1, 1), name)


def counter(until="equal"):
    """Body: x -> 1.5 x - 1 on a 5 x 3 matrix, count -> count + 1, stop where the count is (or passes) `goal`."""
    draft = Draft("counter")
    shape = (5, 3)
    for name, storage in {"x": matrix(shape), "half": ONE, "n": ONE, "one": ONE, "goal": ONE}.items():
        draft.operand(name, storage)
    single = (0, 0, 0)
    more = draft.call("times", elementwise.binary(shape, "multiply", right=single), A="x", B="half")["result"]
    less = draft.call("less", elementwise.binary(shape, "subtract", right=single), A=more, B="one")["result"]
    n = draft.call("count", NUMBER, A="n", B="one")["result"]
    stop = draft.call("stop", operation(until), A=n, B="goal")["result"]
    return draft.plan({"x'": less, "n'": n, "stop": stop, "more": more})


CARRY = {"x'": "x", "n'": "n"}


def texture(device, array):
    return device.upload(np.array(array, dtype=np.float32, ndmin=2))


def looped(most=9, until="stop", body=None):
    return glla.iterate(body or counter(), carry=CARRY, until=until, most=most)


@pytest.fixture
def given(device, rng):
    """Operands of `counter`, for a number of iterations after which it says stop."""
    x = rng.standard_normal((5, 3), dtype=np.float32)

    def make(goal):
        values = {"x": x, "half": 1.5, "n": 0, "one": 1, "goal": goal}
        return {name: texture(device, value) for name, value in values.items()}

    return make


def patient(device, body, carry, until, most, operands):
    """The loop that looks after every iteration: results, iterations, whether it was stopped."""
    values = dict(operands)
    for done in range(1, most + 1):
        results = device.run(body, **values)
        stop = device.read(results[until])[0, 0, 0]
        if np.isnan(stop) or stop != 0:
            return results, done, True
        values |= {operand: results[name] for name, operand in carry.items()}
    return results, most, False


def bits(device, results):
    return {name: device.read(texture).tobytes() for name, texture in results.items()}


@pytest.fixture
def lengths(monkeypatch):
    def set_to(one):
        monkeypatch.setattr(engine, "length", lambda done: one)

    return set_to


@pytest.fixture(params=["at once", "late"])
def looks(request, monkeypatch):
    """Have looks come at once, or, as from a slow GPU, only when the host waits for them."""
    done = Staging.done
    if request.param == "late":
        monkeypatch.setattr(Staging, "done", lambda self, buffer, wait: bool(wait) and done(self, buffer, wait))


# ---- where it stops --------------------------------------------------------------------------


@pytest.mark.parametrize("one", LENGTHS)
def test_it_stops_where_a_loop_that_always_looks_does(device, given, lengths, looks, one):
    lengths(one)
    body = counter()
    for goal in (1, 2, 7, 8, 15, 20, 21):
        operands = given(goal)
        loop = looped(20, body=body)
        expected, count, stopped = patient(device, body, CARRY, "stop", 20, operands)
        result = device.run(loop, **operands)
        assert (result.iterations, result.stopped, result.stop) == (count, stopped, float(stopped))
        assert (count, stopped) == (min(goal, 20), goal <= 20)
        assert list(result) == list(body.results)
        assert bits(device, result) == bits(device, expected)
        device.run(loop, **operands)  # which draws to whatever was given back
        assert bits(device, result) == bits(device, expected)


def test_with_blocks_that_grow(device, given, lengths):
    body, operands = counter(), given(103)
    result = device.run(looped(1000, body=body), **operands)
    assert (result.iterations, result.stopped) == (103, True)
    assert bits(device, result) == bits(device, patient(device, body, CARRY, "stop", 1000, operands)[0])
    # The stop texel says stop in iteration 4 alone; iterations behind it, queued already, say go on.
    lengths(64)
    result = device.run(looped(60), **given(4))
    assert (result.iterations, result.stopped) == (4, True)
    result = device.run(looped(body=counter("subtract")), **given(5))  # n - goal: -4 at once
    assert (result.iterations, result.stop) == (1, -4.0)


@pytest.mark.parametrize("one", LENGTHS)
def test_nan_says_stop(device, given, lengths, one):
    lengths(one)
    draft = Draft("to NaN")  # n - goal is 0 before infinity - infinity
    for name in ("n", "two"):
        draft.operand(name, ONE)
    n = draft.call("double", operation("multiply"), A="n", B="two")["result"]
    stop = draft.call("itself", operation("subtract"), A=n, B=n)["result"]
    loop = glla.iterate(draft.plan({"n'": n, "stop": stop}), carry={"n'": "n"}, until="stop", most=500)
    result = device.run(loop, n=texture(device, 2), two=texture(device, 2))
    assert result.iterations == 127  # 2^128 is infinity
    assert result.stopped and np.isnan(result.stop)
    assert device.read(result["n'"])[0, 0, 0] == np.inf


@pytest.mark.parametrize("most", [1, np.int64(2), 63, 64, 65, 200])
def test_a_loop_without_a_stop_runs_its_number(device, given, most):
    body, operands = counter(), given(0)
    result = device.run(looped(most, None, body), **operands)
    assert (result.iterations, result.stopped, result.stop) == (most, False, 0)
    assert bits(device, result) == bits(device, patient(device, body, CARRY, "stop", most, operands)[0])


def test_operands_stay_as_they_were(device, given, lengths, monkeypatch):
    """And a second loop over a plan prepares nothing."""
    lengths(2)
    body, operands = counter(), given(7)
    before = bits(device, operands)
    device.run(looped(body=body), **operands)
    assert bits(device, operands) == before
    assert not any(one.released for one in operands.values())
    monkeypatch.setattr("glla.gl.runner.prepare", None)
    assert device.run(looped(60, body=body), **operands).iterations == 7


# ---- looks -----------------------------------------------------------------------------------


def test_a_look_reads_16_bytes_and_nothing_else_is_read(device, given, monkeypatch):
    loop, operands = looped(500), given(200)
    fetched = spied(monkeypatch, Staging, "fetch", lambda own, *ends: tuple(one.storage.nbytes for one in ends))
    monkeypatch.setattr(device._transfers, "read", None)
    assert device.run(loop, **operands).iterations == 200
    assert set(fetched) == {(16, 16)}
    assert len(fetched) < 70


def test_the_host_runs_two_blocks_ahead_and_no_further(device, given, monkeypatch):
    """The GPU is slow: a look comes only when the host waits for it."""
    waits, done, queued = [], Staging.done, spied(monkeypatch, Staging, "fetch")

    def slow(self, buffer, wait):
        if not wait:
            return False
        if wait is not True:  # as the map of a buffer whose look has come does
            waits.append(len(queued))
        return done(self, buffer, wait)

    monkeypatch.setattr(Staging, "done", slow)
    monkeypatch.setattr(engine, "length", lambda done: 3)
    assert device.run(looped(15), **given(99)).iterations == 15
    assert len(queued) == 5
    assert waits == [2, 3, 4, 5, 5]


@pytest.mark.parametrize("goal", [1, 17, 100, 500])
def test_little_is_queued_in_vain(device, given, looks, goal):
    loop, operands, before = looped(10**6), given(goal), device.stats()
    assert device.run(loop, **operands).iterations == goal
    assert (device.stats().passes - before.passes) / 5 <= goal + max(3, 3 * goal // 16)
    assert device.stats().plans - before.plans <= 80 + goal // 2  # of four iterations, from the 64th on


def test_no_long_iteration_is_queued_in_vain(device, given, looks, monkeypatch):
    monkeypatch.setattr(engine, "LONG", 0)
    loop, operands, before = looped(10**6), given(200), device.stats()
    assert device.run(loop, **operands).iterations == 200
    assert device.stats().plans - before.plans - 1 == 200


# ---- plans of plans --------------------------------------------------------------------------


def test_a_loop_in_a_plan_of_plans(device, given):
    loop = looped(50)
    draft = Draft("twice around")
    for name in loop.operands:
        draft.operand(name, loop.slots[name])
    first = draft.call("first", loop, **{name: name for name in loop.operands})
    twice = draft.call("double", operation("add"), A="goal", B="goal")["result"]
    second = draft.call("second", loop, x=first["x'"], n=first["n'"], half="half", one="one", goal=twice)
    plan = draft.plan({"x": second["x'"], "n": second["n'"]})
    assert "  first (at most 50 times):" in str(plan)
    operands = given(9)
    result = device.run(plan, **operands)
    assert device.read(result["n"])[0, 0, 0] == 18
    whole = device.run(looped(18, None), **operands)
    assert bits(device, {"x": result["x"]}) == bits(device, {"x": whole["x'"]})


@pytest.mark.parametrize("one", [1, 3])
def test_a_loop_of_loops(device, given, lengths, one):
    lengths(one)
    inner = looped(3, None)
    draft = Draft("rounds of three")
    for name in inner.operands:
        draft.operand(name, inner.slots[name])
    made = draft.call("three", inner, **{name: name for name in inner.operands})
    stop = draft.call("far enough", operation("greater_equal"), A=made["n'"], B="goal")["result"]
    body = draft.plan({"x'": made["x'"], "n'": made["n'"], "enough": stop})
    operands = given(10)
    result = device.run(glla.iterate(body, carry=CARRY, until="enough", most=9), **operands)
    assert (result.iterations, result.stopped) == (4, True)
    plain = device.run(looped(12, None), **operands)
    assert bits(device, {"x": result["x'"]}) == bits(device, {"x": plain["x'"]})


def test_shared_temporaries_change_no_bit(device, rng):
    """A chain of products, flat: five temporaries of one size and the result take two textures."""
    shape, draft = (4, 4), Draft("chain")
    product = matmul.plan(resident(shape, shape))
    a = slot = draft.operand("A", matrix(shape))
    for _ in range(6):
        slot = draft.call("product", product, A=slot, B=a)["C"]
    flat = draft.plan({"C": slot}).flat
    plan = shared(flat)
    assert (len(flat.slots), len(plan.slots)) == (7, 3)
    A = texture(device, rng.standard_normal(shape))
    assert bits(device, device.run(plan, A=A)) == bits(device, device.run(flat, A=A))


# ---- errors ----------------------------------------------------------------------------------


@pytest.fixture
def interrupted(device):
    """A function that runs a loop until it is interrupted, and gives how many plans were run."""

    def run(loop, operands):
        before = device.stats()
        threading.Timer(0.1, device.interrupt).start()
        try:
            with pytest.raises(AbandonedError, match="counter: was abandoned between two passes") as caught:
                device.run(loop, **operands)
        finally:
            device.resume()
        assert device.stats().textures == before.textures, caught
        return device.stats().plans - before.plans

    return run


@pytest.mark.parametrize("one", [1, 7])
def test_interrupted_it_leaves_nothing(device, given, lengths, interrupted, one):
    lengths(one)
    operands = given(-1)
    interrupted(looped(10**9), operands)
    assert device.run(looped(), **operands).iterations == 9


def test_interrupted_while_it_waits(given, interrupted, monkeypatch):
    """No look ever comes, and no iteration may be queued before one does."""
    monkeypatch.setattr(Staging, "done", lambda self, buffer, wait: False)
    assert interrupted(looped(100), given(-1)) == engine.AHEAD


def test_an_error_anywhere_leaves_nothing(device, given, looks, monkeypatch):
    """Each texture that is lent fails once: in an iteration, for a look, or while a block runs once more."""
    monkeypatch.setattr(engine, "length", lambda done: 4)
    loop, operands = looped(40), given(10)
    before, acquire, lent, bad = device.stats().textures, type(device._pool).acquire, 0, 0

    def failing(self, storage):
        nonlocal lent
        lent += 1
        if lent == bad:
            raise DeviceError("no more")
        return acquire(self, storage)

    monkeypatch.setattr(type(device._pool), "acquire", failing)
    for texture in device.run(loop, **operands).values():
        texture.release()
    failed = 0
    for number in range(1, lent + 1, 3):
        lent, bad, caught = 0, number, None
        try:
            results = device.run(loop, **operands)
        except DeviceError as error:
            failed, caught = failed + 1, error
        else:  # how much is lent depends on when the looks come
            assert lent < number
            for texture in results.values():
                texture.release()
        assert device.stats().textures == before, caught  # whose frames would keep what was not given back
    assert failed > 3


def hosted():
    draft = Draft("hosted")
    array = draft.operand("A", HostArray((2, 2)))
    draft.transfer(array, draft.slot("raw", Storage(2, 2, 1)))
    packed = draft.call("pack", packing.pack((2, 2)), raw="raw")["packed"]
    return draft.plan({"packed": packed})


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"most": 0}, OptionError, "iterate: most must be a number of iterations from 1 to 2147483647, got 0"),
        ({"most": 2.5}, OptionError, "iterate: most must be a number of iterations from 1 to 2147483647, got 2.5"),
        ({"until": "x"}, PlanError, r"iterate: results of counter are \['more', .*\], got 'x'"),
        ({"carry": {"y": "x"}}, PlanError, r"iterate: results of counter are \['more', .*\], got 'y'"),
        ({"carry": {"x'": "y"}}, PlanError, r"carried to an operand of its own, .* \['goal', .*\], got \['y'\]"),
        ({"carry": {"x'": "x", "more": "x"}}, PlanError, r"an operand of its own, .*, got \['x', 'x'\]"),
        ({"carry": {"x'": "n"}}, PlanError, "iterate: n must be 1x1x4, the result x' that it is to take is 3x2x4"),
        ({"plan": hosted(), "carry": {}, "until": None}, PlanError, "on the device alone, hosted has a step of the"),
    ],
)
def test_mistakes_are_named(change, error, message):
    options = {"plan": counter(), "carry": CARRY, "until": "stop", "most": 9} | change
    with pytest.raises(error, match=message):
        glla.iterate(options.pop("plan"), **options)


def test_wrong_operands_are_named(device, given):
    loop, operands = looped(), given(3)
    del operands["goal"]
    with pytest.raises(PlanError, match=r"counter: operands are .*, got"):
        device.run(loop, **operands)
    with pytest.raises(PlanError, match=r"iterate: counter: operands are .*, got"):
        loop(x=np.ones((5, 3)))


# ---- what is shown ---------------------------------------------------------------------------


def test_it_prints_its_body_once_and_a_trace_shows_what_ran(device, given, lengths):
    loop = looped()
    assert isinstance(loop, Loop)
    head, *lines = str(loop).splitlines()
    assert head.startswith("at most 9 times: counter: 4 passes, ")
    assert {"  carried   x <- x'", "  carried   n <- n'", "  until     stop is not 0"} <= set(lines)
    assert sum("elementwise/binary" in line for line in lines) == 4
    assert str(looped(9, None)).startswith("9 times: counter: 4 passes, ")
    assert loop.cost == counter().cost
    loop.check(device.limits)
    lengths(1)
    loop, operands = looped(3), given(3)
    with glla.trace(values=True) as trace:
        result = device.run(loop, **operands)
    assert result.iterations == 3
    shaders = [one.shader for one in trace.passes if one.shader != "(upload)"]
    assert shaders == [*["elementwise/binary"] * 4, "iterate/latch"] * 3
    assert [one.values["count.result"].item() for one in trace.passes if "count.result" in one.outputs] == [1, 2, 3]


# ---- on arrays -------------------------------------------------------------------------------


def test_power_iteration_finds_the_largest_eigenvalue(rng):
    n = 37
    draft = Draft("power iteration")
    shapes = {"A": (n, n), "v": (n, 1), "old": (1, 1), "tol": (1, 1)}
    A, v, old, tol = (draft.operand(name, matrix(shape)) for name, shape in shapes.items())

    def binary(kind, a, b, shape=(1, 1), **options):
        return draft.call(f"{kind} {a} {b}", elementwise.binary(shape, kind, **options), A=a, B=b)["result"]

    w = draft.call("product", matmul.plan(resident((n, n), (n, 1))), A=A, B=v)["C"]
    size = draft.call("size", reduce.fold((n, 1), "max_magnitude"), A=w)["total"]
    new = binary("divide", w, size, (n, 1), right=(0, 0, 0))
    upper, lower = (
        draft.call(f"sum {k}", reduce.fold((n, 1)), A=binary("multiply", v, k, (n, 1)))["total"] for k in (w, v)
    )
    value = binary("divide", upper, lower)
    change = draft.call("size of it", elementwise.unary((1, 1), "absolute"), A=binary("subtract", value, old))["result"]
    body = draft.plan({"v'": new, "value": value, "stop": binary("less_equal", change, tol)})

    q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    M = (q * np.r_[-9.0, np.linspace(-4, 5, n - 1)]) @ q.T
    power = glla.iterate(body, carry={"v'": "v", "value": "old"}, until="stop", most=300)
    result = power(A=glla.asarray(M).T.T, v=rng.standard_normal(n), old=0.0, tol=1e-6)
    assert isinstance(result["v'"], glla.Array) and result["v'"].shape == (n, 1)
    assert result.stopped and 5 < result.iterations < 60
    values, vectors = np.linalg.eigh(M)
    np.testing.assert_allclose(result["value"].numpy(), [[values[0]]], rtol=1e-5)
    found = result["v'"].numpy()[:, 0] / np.linalg.norm(result["v'"].numpy())
    assert abs(found @ vectors[:, 0]) > 1 - 1e-6
