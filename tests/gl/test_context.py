"""Contexts: opened, interleaved, given back, refused; and what the messages say."""

import os
import re
import sys
import textwrap
import threading
import types
from contextlib import nullcontext

import moderngl
import numpy as np
import pytest

from glla.errors import ContextError, ReleasedError, ThreadError
from glla.gl import Device, calls, loaders, select
from glla.gl import egl as egl_room
from glla.gl.egl import EGLDevice, list_egl_devices
from glla.gl.loaders import EGLLoader, GLFWLoader
from glla.gl.select import open_context
from tests import beside
from tests.beside import in_thread, started

PRELUDE = """
from glla.errors import *
from glla.gl import calls, forks, loaders, select
from glla.gl import current as current_room, egl as egl_room, glfw as glfw_room
"""
CHOICES = ("GLLA_BACKEND", "GLLA_DEVICE")
VERSIONS = ("MESA_GL_VERSION_OVERRIDE", "MESA_GLSL_VERSION_OVERRIDE")
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
NO_DRIVER = {"__EGL_VENDOR_LIBRARY_FILENAMES": "/nonexistent.json"}


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for name in CHOICES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def egl(plain_environment):
    """A function that opens a context through EGL; all are released afterwards, and nothing is left current."""
    opened = []

    def open_egl(**choice):
        opened.append(open_context("egl", **choice))
        return opened[-1]

    yield open_egl
    for ctx, loader in opened:
        if not loader.released:
            loader.make_current()
            assert ctx.error == "GL_NO_ERROR"
        ctx.release()
    assert current_egl() == 0


def current_egl():
    return egl_room.load_egl().current_context() or 0


def run_python(script, **environment):
    """Run a script in a fresh interpreter where a warning is an error, and return its output."""
    variables = dict.fromkeys((*CHOICES, *VERSIONS, *DISPLAYS)) | environment
    return beside.run_python(PRELUDE + textwrap.dedent(script), "-W", "error", limit=100, quiet=False, **variables)


def error_of_open_context(arguments="", **environment):
    """The text of the ContextError that open_context raises in a fresh interpreter."""
    script = f"""
        try:
            select.open_context({arguments})
        except ContextError as error:
            print(error)
        assert not glfw_room._is_ours
    """
    return run_python(script, **environment)


def texture_of(ctx, byte):
    texture = ctx.texture((2, 2), 4, data=bytes([byte]) * 64, dtype="f4")
    return texture, bytes([byte]) * 64


# -------------------------------------------------------------------------------------------------------- devices


@pytest.mark.mesa
def test_devices_are_numbered_and_named():
    devices = list_egl_devices()
    assert [device.index for device in devices] == list(range(len(devices)))
    assert all(device.name for device in devices) and egl_room.query_devices()[1] is None
    mesa = [device for device in devices if device.name == "software rasteriser (Mesa)"]
    assert mesa and all(one.software and one.render_node is None and one.cuda is None for one in mesa)


@pytest.mark.mesa
def test_listing_devices_does_not_use_opengl():
    script = """
        import os
        egl_room.list_egl_devices()
        if os.fork():
            assert os.wait()[1] == 0
        else:
            ctx, loader = select.open_context("egl", software=True)
            ctx.finish()
            ctx.release()
    """
    run_python(script)


def test_no_libegl_gives_no_devices_and_a_reason():
    script = """
        egl_room.LIBRARIES = ("libnothing.so.1",)
        print(egl_room.list_egl_devices(), egl_room.query_devices()[1])
        try:
            select.open_context()
        except ContextError as error:
            print(error)
    """
    output = run_python(script)
    assert output.startswith("[] libEGL cannot be loaded (libnothing.so.1: ")
    assert "EGL devices: libEGL cannot be loaded" in output
    assert "EGL surfaceless: libEGL cannot be loaded" in output
    assert output.count("apt install libegl1 libegl-mesa0 libgl1-mesa-dri") == 3


# ------------------------------------------------------------------------------------------- open, interleave, restore


@pytest.mark.parametrize(
    "choice", [{}, {"index": 0}, pytest.param({"software": True}, marks=pytest.mark.mesa)], ids=str
)
def test_egl_context_is_330_core_and_current(egl, choice):
    ctx, loader = egl(**choice)
    assert ctx.version_code >= 330
    assert ctx.info["GL_CONTEXT_PROFILE_MASK"] & 1
    assert ctx.gc_mode is None
    assert ctx.error == "GL_NO_ERROR"
    assert loader.is_current()
    assert loader.kind == "egl"
    assert loader.description.startswith("EGL device ")
    assert loader.load_opengl_function("glClear")


@pytest.mark.parametrize("index", [None, 0], ids=["surfaceless", "device"])
def test_making_a_loader_changes_nothing_that_is_current(egl, index):
    _, first = egl()
    second = EGLLoader(None if index is None else list_egl_devices()[index])
    assert first.is_current() and not second.is_current()
    with second:
        assert second.is_current()
        inner = moderngl.create_context(require=330, context=second)
        texture, data = texture_of(inner, 7)
        assert texture.read() == data
    assert first.is_current()
    second.release()
    assert first.is_current()


def test_two_contexts_interleaved(egl):
    (one, first), (two, second) = egl(), egl()
    with one:
        texture_1, data_1 = texture_of(one, 1)
        with two:
            texture_2, data_2 = texture_of(two, 2)
            assert texture_1.glo == texture_2.glo  # the same name in each: only the right context tells them apart
            with one, one:
                assert texture_1.read() == data_1
            assert second.is_current()
            assert texture_2.read() == data_2
        assert first.is_current()
        assert texture_1.read() == data_1
    assert second.is_current()


def test_what_was_current_comes_back(egl):
    """After an exception, where nothing was, and where it is a context of somebody else's."""
    (_, first), (_, second) = egl(), egl()
    with pytest.raises(KeyError), first:
        raise KeyError
    assert second.is_current()
    first.unbind()  # which leaves another one alone
    assert second.is_current()
    second.unbind()
    assert current_egl() == 0
    with first:
        assert first.is_current()
    assert current_egl() == 0
    foreign = moderngl.create_context(standalone=True, backend="egl", require=330, libgl="libEGL.so.1")
    handle = current_egl()
    try:
        with first:
            assert current_egl() != handle
        assert current_egl() == handle
        with Device() as device:  # in a program that draws, too
            assert current_egl() == handle
            assert device.download(device.upload(np.float32([[1, 2]])), (1, 2)).tolist() == [[1, 2]]
        assert current_egl() == handle
    finally:
        foreign.release()
        egl_room.unbind_egl()


def test_api_of_the_thread_stays_as_it_was(egl):
    def api():
        functions = egl_room.load_egl()
        before = functions.ask("eglQueryAPI")
        EGLLoader(list_egl_devices()[0]).release()
        return before, functions.ask("eglQueryAPI")

    before, after = in_thread(api)
    assert before == after != egl_room.OPENGL_API


# ------------------------------------------------------------------------------------------------------------- release


def test_release_is_once_and_for_all(egl):
    ctx, loader = egl()
    ctx.release()
    assert loader.released
    assert not loader.is_current()
    assert current_egl() == 0
    loader.release()
    loader.unbind()
    with pytest.raises(ReleasedError, match=r"the context was released; open another one"):
        loader.make_current()
    with pytest.raises(ReleasedError), loader:
        pass


def test_contexts_released_inside_of_blocks(egl):
    (_, first), (_, second), (_, third) = egl(), egl(), egl()
    with first:
        third.release()
    assert current_egl() == 0  # what was current before is gone
    second.make_current()
    with first:
        first.release()
    assert second.is_current()


# ------------------------------------------------------------------------------------------------------------- threads


def test_context_held_by_another_thread_is_refused(egl):
    (_, first), (_, second) = egl(), egl()
    error = in_thread(second.make_current, name="worker")
    assert isinstance(error, ThreadError)
    assert "cannot be used in thread 'worker', as another thread holds it" in str(error)
    assert "call unbind() in the thread that holds it" in str(error)
    assert second.is_current()

    def work():  # which keeps what it had
        with first:
            with pytest.raises(ThreadError):
                second.make_current()
            with pytest.raises(ThreadError), second:
                pass
            return first.is_current()

    assert in_thread(work) is True


def test_unbound_context_moves_to_another_thread(egl):
    ctx, loader = egl()
    texture, data = texture_of(ctx, 3)
    loader.unbind()

    def work():
        with loader:
            return texture.read()

    assert in_thread(work) == data
    loader.make_current()


def test_context_taken_meanwhile_cannot_be_restored(egl):
    (_, first), (_, second) = egl(), egl()
    taken, done = threading.Event(), threading.Event()

    def take():
        with second:
            taken.set()
            done.wait(10)

    with pytest.raises(ThreadError, match=r"cannot be restored, as another thread holds it now"), first:
        taking = started(take)
        assert taken.wait(10)
    done.set()
    taking.result(10)
    assert current_egl() == 0


# --------------------------------------------------------------------------------------------------------------- forks

FORK = """
    import os, signal
    ctx, loader = select.open_context("egl", software=True)
    {before}
    if os.fork():
        assert os.wait()[1] == 0
        print("parent is well")
    else:
        signal.alarm(10)
        assert not loader.is_current()
        for touch in (loader.make_current, loader.__enter__, select.open_context, forks.check_process,
                      egl_room.list_egl_devices, loaders.GLFWLoader, lambda: loaders.EGLLoader(None)):
            try:
                touch()
            except (ThreadError, ReleasedError) as error:
                print(error, flush=True)  # before the next fork, which would print it again
            else:
                raise AssertionError(touch)
        loader.unbind()
        ctx.release()
        if os.fork():
            assert os.wait()[1] == 0
        else:
            try:
                select.open_context()
            except ThreadError:
                print("grandchild")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.mesa
@pytest.mark.parametrize("before", ["pass", "ctx.release()"])
def test_forked_child_is_refused(before):
    output = run_python(FORK.format(before=before))
    message = (
        "an OpenGL context was made before this process was forked, and OpenGL would hang here; "
        "use multiprocessing's 'spawn' start method"
    )
    assert output.count(message) == 7
    assert "grandchild" in output
    assert "parent is well" in output


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.mesa
def test_with_block_may_end_in_a_forked_child():
    script = """
        import os
        ctx, loader = select.open_context("egl", software=True)
        loader.unbind()
        current_room.Binding.restore, restore = lambda self: print("touched"), current_room.Binding.restore
        with ctx:
            child = os.fork()
            if child:
                assert os.waitpid(child, 0)[1] == 0
                current_room.Binding.restore = restore
    """
    assert run_python(script) == ""


# ---------------------------------------------------------------------------------------------------------- the choice


WRONG = [
    ({"backend": "vulkan"}, {}, "backend must be one of 'auto', 'egl', 'glfw', got 'vulkan'"),
    *(({"index": one}, {}, f"index must be an int from 0, or None, got {one!r}; see glla.devices()")
      for one in (-1, True, "0")),
    ({"software": "yes"}, {}, "software must be True, False or None, got 'yes'"),
    ({"backend": "glfw", "index": 0}, {},
     "index chooses an EGL device, got index 0 with backend 'glfw'; leave one of them out"),
    ({}, {"GLLA_BACKEND": "vulkan"}, "GLLA_BACKEND must be one of auto, egl, glfw, got 'vulkan'"),
    *(({}, {"GLLA_DEVICE": one},
       f"GLLA_DEVICE must be an EGL device's index, 'software' or 'hardware', got {one!r}") for one in ("-1", "gpu")),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "environment", "message"), WRONG, ids=str)
def test_bad_arguments_and_environments(monkeypatch, arguments, environment, message):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ContextError) as caught:
        open_context(**arguments)
    assert str(caught.value) == f"open_context: {message}"


def test_environment_overrides_the_backend(egl, monkeypatch):
    monkeypatch.setenv("GLLA_BACKEND", " EGL ")
    ctx, loader = open_context("glfw")
    assert loader.kind == "egl"
    ctx.release()
    for name in CHOICES:
        monkeypatch.setenv(name, " ")  # none
    egl(index=0)
    monkeypatch.setenv("GLLA_DEVICE", "0")
    with pytest.raises(ContextError, match=r"index 0 with backend 'glfw' \(in force: GLLA_DEVICE=0\)"):
        open_context("glfw")


@pytest.mark.mesa
def test_environment_overrides_the_device(egl, monkeypatch):
    monkeypatch.setenv("GLLA_DEVICE", "software")
    ctx, _ = egl(index=99, software=False)
    assert select.is_software_renderer(ctx.info["GL_RENDERER"])
    monkeypatch.setenv("GLLA_DEVICE", "0")
    _, loader = egl(index=99, software=False) if not list_egl_devices()[0].software else egl(index=99)
    assert loader.description.startswith("EGL device 0 ")
    monkeypatch.setenv("GLLA_DEVICE", "99")
    with pytest.raises(ContextError, match=r"\(in force: GLLA_DEVICE=99\); tried:\n  - EGL device 99: EGL lists "):
        egl(index=0)


SOFTWARE = EGLDevice(0, "software rasteriser (Mesa)", True, None, None)
HARDWARE = EGLDevice(1, "CUDA device 0", False, None, 0)


S, H = "EGL device 0 (software rasteriser (Mesa))", "EGL device 1 (CUDA device 0)"


@pytest.mark.parametrize(
    ("index", "software", "labels"),
    [
        (None, None, [H, S, "EGL surfaceless"]),
        (None, True, [S, "EGL surfaceless"]),
        (None, False, [H, "EGL surfaceless"]),
        (0, None, [S]),
    ],
)
def test_order_of_egl_candidates(monkeypatch, index, software, labels):
    monkeypatch.setattr(select, "query_devices", lambda: ([SOFTWARE, HARDWARE], None))
    assert [label for label, _ in select._candidates(select._Request("egl", index, software))] == labels


@pytest.mark.parametrize(
    ("platform", "display", "labels"),
    [
        *(("linux", one, [S, "EGL surfaceless", "GLFW"]) for one in (None, *DISPLAYS)),
        ("darwin", None, ["GLFW"]),
        ("win32", None, ["GLFW"]),
    ],
)
def test_order_of_auto(monkeypatch, platform, display, labels):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(select, "query_devices", lambda: ([SOFTWARE], None))
    for name in DISPLAYS:
        monkeypatch.delenv(name, raising=False)
    if display:
        monkeypatch.setenv(display, ":0")
    candidates = select._candidates(select._Request("auto", None, None))
    assert [label for label, _ in candidates] == labels
    assert (candidates[-1][1] is GLFWLoader) == (platform != "linux" or bool(display))


@pytest.mark.mesa
def test_device_that_lies_about_what_it_is_is_refused(egl, monkeypatch):
    _, first = egl()
    device = next(device for device in list_egl_devices() if device.software)
    with pytest.raises(ContextError, match=r"hardware is asked for, found the software rasteriser .*; install"):
        egl(index=device.index, software=False)
    assert first.is_current()
    monkeypatch.setattr(select, "is_software_renderer", lambda renderer: False)
    with pytest.raises(ContextError, match=r"a software rasteriser is asked for, found .*; apt install"):
        egl(software=True)


RENDERERS = {
    True: ["llvmpipe (LLVM 15.0.6, 256 bits)", "softpipe", "Mesa DRI swrast", "Apple Software Renderer",
           "zink Vulkan 1.3(llvmpipe (LLVM 19.1.1, 256 bits) (MESA_LLVMPIPE))", "Software Rasterizer", "GDI Generic"],
    False: ["NVIDIA H100/PCIe/SSE2", "AMD Radeon RX 6600 (radeonsi, navi23, LLVM 15.0.7, DRM 3.57)", "Apple M2"],
}  # fmt: skip


@pytest.mark.parametrize(("software", "renderer"), [(kind, one) for kind in RENDERERS for one in RENDERERS[kind]])
def test_software_renderers(renderer, software):
    assert select.is_software_renderer(renderer) is software


# ------------------------------------------------------------------------------------------------------------ failures


OLD = ["3.2 (Core Profile) Mesa 22.3.6", "2.1 Metal", "OpenGL ES 3.2 Mesa", "OpenGL ES 9.9", "", "1.1.0"]
NEW = ["3.3.0 NVIDIA 580.159.04", "4.5 (Core Profile) Mesa 22.3.6", "10.0"]


@pytest.mark.parametrize("text", [*OLD, *NEW])
def test_versions_from_330_are_accepted(monkeypatch, text):
    monkeypatch.setattr(select, "string", lambda address_of, name: text)
    message = re.escape(f"OpenGL 3.3 core is needed, found {text}; update the driver")
    with pytest.raises(ContextError, match=message) if text in OLD else nullcontext():
        select._check(types.SimpleNamespace(load_opengl_function=None), None)


def test_an_older_version_is_asked_for_where_there_is_no_newer_one(egl, monkeypatch):
    monkeypatch.setattr(loaders, "VERSIONS", ((9, 9), (3, 3)))
    ctx, _ = egl()
    assert ctx.version_code >= 330
    with pytest.raises(ContextError, match="the driver has no glGetString"):
        calls.string(lambda name: 0, calls.GL_VERSION)


@pytest.mark.mesa
def test_drivers_that_do_not_do_are_named():
    """With the version of an older one, and EGL's error of one that does not start."""
    text = error_of_open_context("'egl', software=True", MESA_GL_VERSION_OVERRIDE="3.1")
    assert text.count("OpenGL 3.3 core is needed, found 3.1 Mesa") == 2
    assert "EGL_BAD_MATCH (0x3009)" in text
    text = error_of_open_context("'egl', software=True", LIBGL_DRIVERS_PATH="/nonexistent")
    assert "eglInitialize failed with EGL_NOT_INITIALIZED (0x3001), so the driver does not start" in text


@pytest.mark.mesa
def test_plain_330():
    script = """
        ctx, loader = select.open_context("egl", software=True)
        print(ctx.version_code, ctx.error)
    """
    assert run_python(script, **dict(zip(VERSIONS, ("3.3", "330"), strict=True))) == "330 GL_NO_ERROR\n"


@pytest.mark.mesa
def test_no_driver_gives_the_whole_list():
    lines = error_of_open_context(**NO_DRIVER).splitlines()
    assert lines[0] == "open_context: no OpenGL 3.3 core context; tried:"
    assert lines[1].startswith("  - EGL devices: EGL lists no devices, so no driver is installed for it; apt install ")
    assert lines[2].startswith("  - EGL surfaceless: EGL_MESA_platform_surfaceless is missing from libEGL; apt ")
    assert lines[3].startswith("  - GLFW: there is no display; pip install glfw, and set DISPLAY")
    assert len(lines) == 4
    for line in lines[1:3]:
        assert line.endswith(
            "apt install libegl1 libegl-mesa0 libgl1-mesa-dri; "
            "for NVIDIA in a container, NVIDIA_DRIVER_CAPABILITIES must include graphics"
        )


def test_failure_leaks_nothing(egl, monkeypatch):
    _, first = egl()
    made, destroyed = [], []
    call = egl_room.EGL.call

    def counting_call(self, name, *arguments):
        result = call(self, name, *arguments)
        if name == "eglCreateContext":
            made.append(result)
        if name == "eglDestroyContext":
            destroyed.append(arguments[1])
        return result

    def fail(**settings):
        raise Exception("broken")

    monkeypatch.setattr(egl_room.EGL, "call", counting_call)
    monkeypatch.setattr(moderngl, "create_context", fail)
    with pytest.raises(ContextError, match=r"moderngl.create_context failed: broken"):
        egl()
    assert made
    assert made == destroyed
    assert first.is_current()


def test_glfw_is_refused(monkeypatch):
    """Off the main thread, without a display, and where the package is missing."""
    error = in_thread(GLFWLoader, name="worker")
    assert isinstance(error, ThreadError)
    assert str(error) == (
        "GLFW makes windows on the main thread only, got thread 'worker'; do it there, or use backend='egl'"
    )
    text = error_of_open_context("'glfw'")
    assert "  - GLFW: glfw.init failed: X11: The DISPLAY environment variable is missing (0x0001000E); pip " in text
    monkeypatch.setitem(sys.modules, "glfw", None)
    with pytest.raises(ContextError, match=r"the glfw package cannot be imported \(.*\); pip install glfw"):
        GLFWLoader()


# ---------------------------------------------------------------------------------------------------------------- GLFW


@pytest.mark.xvfb
def test_glfw_context(display):
    script = """
        ctx, loader = select.open_context("glfw", software=True)
        assert ctx.version_code >= 330 and ctx.gc_mode is None and ctx.error == "GL_NO_ERROR"
        assert loader.is_current() and loader.kind == "glfw"
        texture = ctx.texture((2, 2), 4, data=bytes(range(64)), dtype="f4")
        assert texture.read() == bytes(range(64))
        ctx.release()
        ctx.release()
        assert not loader.is_current() and not glfw_room.windows and not glfw_room._is_ours
        try:
            loader.make_current()
        except ReleasedError as error:
            print(error)
    """
    assert run_python(script, DISPLAY=display) == "GLFW hidden window: the context was released; open another one\n"


@pytest.mark.xvfb
def test_glfw_and_egl_interleaved(display):
    script = """
        (a, la), (b, lb) = select.open_context("glfw"), select.open_context("glfw")
        assert lb.is_current() and not la.is_current()
        e, le = select.open_context("egl")
        assert le.is_current() and not lb.is_current()
        textures = []
        for value, ctx in enumerate((a, b, e)):
            with ctx:
                textures.append(ctx.texture((2, 2), 4, data=bytes([value]) * 64, dtype="f4"))
        with a:
            with e:
                with b:
                    assert lb.is_current() and textures[1].read() == bytes([1]) * 64
                assert le.is_current() and not la.is_current() and textures[2].read() == bytes([2]) * 64
            assert la.is_current() and not le.is_current() and textures[0].read() == bytes([0]) * 64
        assert le.is_current()
        with b:
            with a:
                lb.release()
            assert current_room.Binding.now() == current_room.NOTHING
        assert le.is_current()
        la.release()
        assert le.is_current() and not glfw_room._is_ours
        c, lc = select.open_context("glfw")  # GLFW starts again
        assert lc.is_current() and c.error == "GL_NO_ERROR"
    """
    run_python(script, DISPLAY=display)


@pytest.mark.xvfb
def test_windows_of_the_program_itself_stay_and_come_back(display):
    script = """
        import glfw
        assert glfw.init()
        def window(api):
            glfw.window_hint(glfw.VISIBLE, False)
            glfw.window_hint(glfw.CONTEXT_CREATION_API, api)
            window = glfw.create_window(8, 8, "program", None, None)
            assert window
            return window
        def current():
            return glfw_room.address_of(glfw.get_current_context())
        for api in (glfw.NATIVE_CONTEXT_API, glfw.EGL_CONTEXT_API):
            own = window(api)
            glfw.make_context_current(own)
            held = current_room.Binding.now()
            assert (held.egl is None) == (api == glfw.NATIVE_CONTEXT_API)
            egl, glf = loaders.EGLLoader(None), loaders.GLFWLoader()
            assert current_room.Binding.now().egl == held.egl and current() == glfw_room.address_of(own)
            for loader in (egl, glf):
                with loader:
                    assert loader.is_current()
                assert current_room.Binding.now().egl == held.egl and current() == glfw_room.address_of(own)
            egl.release()
            glf.release()
            assert current() == glfw_room.address_of(own)
        assert glfw.get_time() > 0  # still initialised
    """
    run_python(script, DISPLAY=display)


@pytest.mark.xvfb
def test_glfw_and_threads(display):
    script = """
        import threading
        (a, la), (b, lb) = select.open_context("glfw"), select.open_context("glfw")
        la.make_current()
        held, done = threading.Event(), threading.Event()
        def refused(touch):
            try:
                touch()
            except ThreadError as error:
                print(error)
        def work():
            for touch in (la.make_current, la.__enter__, la.release):
                refused(touch)
            with lb:
                assert lb.is_current()
            lb.make_current()
            held.set()
            done.wait(10)
            lb.unbind()
        thread = threading.Thread(target=work, name="worker")
        thread.start()
        assert held.wait(10)
        refused(lb.make_current)
        refused(lb.release)
        assert la.is_current()
        done.set()
        thread.join()
        lb.make_current()
        assert lb.is_current() and not la.is_current()
        lb.release()
    """
    lines = run_python(script, DISPLAY=display).splitlines()
    held = "GLFW hidden window: the context cannot be used in thread {!r}, as another thread holds it; call unbind()"
    assert [line.startswith(held.format("worker")) for line in lines] == [True, True, False, False, False]
    assert lines[2].startswith("GLFW releases windows on the main thread only, got thread 'worker'")
    assert [line.startswith(held.format("MainThread")) for line in lines[3:]] == [True, True]


@pytest.mark.xvfb
def test_glfw_failure_leaks_nothing(display):
    script = """
        e, le = select.open_context("egl")
        try:
            select.open_context("glfw", software=False)
        except ContextError as error:
            print(error)
        assert le.is_current() and not glfw_room.windows and not glfw_room._is_ours
    """
    output = run_python(script, DISPLAY=display)
    assert "  - GLFW: hardware is asked for, found the software rasteriser " in output
    text = error_of_open_context("'glfw'", DISPLAY=display, MESA_GL_VERSION_OVERRIDE="3.1")
    assert "  - GLFW: OpenGL 3.3 core is needed, found 3.1 Mesa" in text
    assert "GLXBadFBConfig" in text
    script = """
        ctx, loader = select.open_context()  # GLFW is the last resort
        print(loader.kind)
    """
    assert run_python(script, DISPLAY=display, **NO_DRIVER) == "glfw\n"


@pytest.mark.xvfb
def test_error_callback_of_the_program_stays(display):
    script = """
        import glfw
        seen = []
        glfw.set_error_callback(lambda code, text: seen.append(code))
        ctx, loader = select.open_context("glfw")
        ctx.release()
        assert seen == []
        glfw.get_time()  # not initialised any more
        assert seen == [glfw.NOT_INITIALIZED]
    """
    run_python(script, DISPLAY=display)
