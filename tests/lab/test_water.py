"""`glla demo water`: the thesis's case in every way, the film, the table, and the window."""

import json

import numpy as np
import pytest

from glla.cli import main
from glla.errors import ContextError
from glla.gl.window import Window
from glla.lab import water
from glla.queue.single import coprocessor
from tests.beside import run_python

image = pytest.importorskip("PIL.Image")
pytest.importorskip("matplotlib")
pytest.importorskip("rich")


def test_every_way_gives_the_same_fields(device):
    """Dense systems shared by CPU and GPU, LAPACK alone, Thomas's algorithm, and the simulation on the device."""
    n, steps = 9, 2
    exact = water.Reference(water.hump(n))
    start = water.hump(n).astype(np.float32)
    with coprocessor() as gpu:
        ways = [water.Reference(start, one) for one in (water.tridiagonal, water.on_cpu, water.shared(gpu))]
        for _ in range(steps):
            for one in (exact, *ways):
                one.step()
    resident = water.resident(device, n)
    resident.step(steps)
    for one in (*ways, resident):
        for name, (mean, most) in water.differences(one, exact).items():
            assert mean <= most < 2e-6, name
    assert exact.z.dtype == np.float64 and ways[0].z.dtype == ways[0].u.dtype == np.float32


def test_the_demo_in_json(device, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(water, "STEPS", 1)
    output = tmp_path / "a.png"
    assert main(["demo", "water", "--size", "16", "--out", str(output), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is True and report["cells"] == [16, 16] and report["steps"] == 1
    assert report["differences"]["thesis, table 5.1"]["z"] == {"mean": 1.47e-7, "max": 4.48e-8}
    assert all(milliseconds > 0 for milliseconds in report["milliseconds_a_step"].values())
    with image.open(output) as picture:
        assert picture.size == (64, 64) and np.asarray(picture).std() > 5


def test_a_device_without_a_window_has_none_to_show(device):
    with pytest.raises(ContextError, match=r"window: .* has none; Device\(backend='glfw'\) has"):
        Window(device, 64, 64, "none")


@pytest.mark.xvfb
def test_the_window_shows_the_waves(display):
    """Under Xvfb: pictures are shown, colours arrive on the screen, the mouse makes waves."""
    script = """
import ctypes
import glla
import numpy as np
from glla.gl.window import Window
from glla.lab import water

with glla.Device(backend="glfw") as device:
    seen, screens = [], []
    import glfw
    swap = glfw.swap_buffers
    kinds = (None, *4 * [ctypes.c_int], ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p)
    read = ctypes.CFUNCTYPE(*kinds)(device._loader.load_opengl_function("glReadPixels"))
    def swapped(window):
        pixels = np.zeros((64, 64, 4), np.uint8)
        device.calls.bind_framebuffer(0x8CA8, 0)  # GL_READ_FRAMEBUFFER: the window's
        read(100, 100, 64, 64, 0x1908, 0x1401, pixels.ctypes.data)  # GL_RGBA, GL_UNSIGNED_BYTE
        screens.append(pixels[..., :3].std())
        swap(window)
    glfw.swap_buffers = swapped
    Window.mouse = lambda self: (0.7, 0.2) if len(seen) == 1 else None
    show = Window.show
    def watched(self, picture):
        show(self, picture)
        seen.append(device.read(picture)[..., :3].std())
    Window.show = watched
    assert water.live(device, 16, most=3) == 3
    assert len(seen) == 3 and min(seen) > 0.01 and len(set(seen)) == 3, seen
    assert len(screens) == 3 and min(screens[1:]) > 1, screens
"""
    variables = {"GLLA_BACKEND": None, "GLLA_DEVICE": None, "DISPLAY": display}
    run_python(script, "-W", "error", limit=120, quiet=False, **variables)
