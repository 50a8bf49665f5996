"""What every test gets: a device that checks itself, and the proof that the test left nothing behind."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

# Threads of BLAS spin while they wait: beside a second worker a small QR of NumPy's takes six times its time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Before glla makes its default device: check GL's error flag after every pass, and fill every texture with NaN before
# it is lent, so that a pass that reads what none has written cannot go unnoticed.
os.environ.setdefault("GLLA_DEBUG", "1")
# What somebody tuned on this machine must not decide which variants the tests run.
os.environ["GLLA_TUNING"] = "off"

import numpy as np

import glla
import glla.gl.info
from glla.operations import OPERATIONS
from glla.passes.cache import PLANS
from glla.passes.glsl import find as shaders

# A rasteriser that plays a GPU: what `choose` takes on hardware alone is run where there is none.
if os.environ.get("GLLA_TESTS_AS_GPU"):
    glla.gl.info.is_software_renderer = lambda renderer: False

# nohup and some CI systems start their children with SIGINT ignored, and so would children of the tests be.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

DATA = Path(__file__).parents[2] / "shared" / "data" / "matrices"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes minutes unless `-m sweep` asks for it; skip what needs real matrices that are not there."""
    if "sweep" not in config.option.markexpr:
        long = [item for item in items if item.get_closest_marker("sweep")]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]
    if "newer_gl" in config.option.markexpr:  # variants of OpenGL 3.3 have the same passes there
        newer = {name for one in OPERATIONS.values() for name, variant in one.variants.items() if variant.needs}
        params = [item.callspec.params if hasattr(item, "callspec") else {} for item in items]
        items[:] = [item for item, one in zip(items, params, strict=True) if one.get("variant", "") in newer | {""}]
    missing = {}
    if not DATA.is_dir():
        missing["data"] = "the real matrices are not beside this checkout"
    if not any(device.software for device in glla.devices()):
        missing["mesa"] = "there is no software rasteriser of Mesa's (apt install libegl1 libegl-mesa0 libgl1-mesa-dri)"
    for item in items:
        if item.nodeid.startswith("glla/dask/") and find_spec("dask") is None:
            item.add_marker(pytest.mark.skip(reason="dask is not installed: pip install 'glla[dask]'"))
        for mark, reason in missing.items():
            if item.get_closest_marker(mark):
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish() -> None:
    """Leave the modules and all tests out of every later collection: they stay to the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def display() -> Iterator[str]:
    """Start Xvfb and give the name of its display; xvfb-run would need xauth, which Debian does not install with it."""
    xvfb = shutil.which("Xvfb")
    if xvfb is None:
        message = "Xvfb is not installed (apt install xvfb)"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    reader, writer = os.pipe()
    command = [xvfb, "-displayfd", str(writer), "-screen", "0", "1280x1024x24", "-nolisten", "tcp", "-noreset"]
    server = subprocess.Popen(command, pass_fds=[writer], stderr=subprocess.DEVNULL)
    os.close(writer)
    try:
        with os.fdopen(reader) as pipe:
            number = pipe.readline().strip()  # ends, empty, if the server does
        assert number, "Xvfb did not start"
        yield f":{number}"
    finally:
        server.terminate()
        server.wait(10)


@pytest.fixture(scope="session")
def device() -> glla.Device:
    """Give the default device."""
    return glla.default_device()


MOST_PROGRAMS = 256
"""Compiled programs that the tests of one file leave to those of the next: llvmpipe takes a megabyte for each."""


@pytest.fixture(scope="module", autouse=True)
def leaves_little(device: glla.Device) -> Iterator[None]:
    """Forget what a file of tests has had kept for later calls, where the next file hardly finds any use for it.

    A worker would come to gigabytes, and whoever collects garbage would look through all plans.
    """
    yield
    for made in PLANS.builders:
        PLANS.forget(made)
    if device.stats().programs > MOST_PROGRAMS:
        device.forget()
        device.free()


@pytest.fixture
def rng() -> np.random.Generator:
    """Give random numbers that are the same in every run."""
    return np.random.default_rng(20070601)


@pytest.fixture
def data() -> Path:
    """Give the folder of real matrices; mark the test with ``data``."""
    return DATA


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[str, str]]:
    """A function that opens a page in a headless browser: (page, options) -> what it printed, what it complained of."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("Chromium is not installed (apt install chromium)")
    profile = tmp_path_factory.mktemp("profile")

    def look(page: Path, *options: str, at: str = "") -> tuple[str, str]:
        without = [] if "--use-angle=gl-egl" in options else ["--disable-gpu"]
        command = [
            found, "--headless", "--no-sandbox", *without, "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr",
            f"--user-data-dir={profile}", "--window-size=1400,3000", *options, f"{page.as_uri()}{at}",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=110)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    return look


@pytest.fixture
def shader_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Give a function that writes shaders, which for this test stand in for those of glla."""

    def write(files: dict[str, str]) -> None:
        for name, text in files.items():
            path = tmp_path / "shaders" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        shaders._resolve.cache_clear()

    monkeypatch.setattr(shaders, "root", lambda: tmp_path / "shaders")
    for name in ("fullscreen.vert", "lib/fullscreen.glsl"):  # the vertex stage of a shader that has none
        write({name: (shaders._CHECKOUT / name).read_text(encoding="utf-8")})
    yield write
    shaders._resolve.cache_clear()


def textures_in_use(device: glla.Device) -> int:
    """Count the textures on loan; cycles may keep some until they are collected."""
    return device.stats().textures


@pytest.fixture(autouse=True)
def leaves_nothing(device: glla.Device) -> Iterator[None]:
    """Fail a test that leaves a texture on loan, or GL's error flag raised."""
    before = textures_in_use(device)
    yield
    if device.released:
        pytest.fail("the test released the default device")
    device.finish()  # raises if the error flag is set
    for generation in range(3):  # what an exception has kept is young, and a whole collection takes seconds
        if textures_in_use(device) != before:
            gc.collect(generation)
    assert textures_in_use(device) == before, "the test left textures on loan"
