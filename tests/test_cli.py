"""The `glla` command: what it prints, where, and its exit status."""

import io
import json
import os
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import glla
from glla import cli
from glla.cli import main
from glla.errors import ContextError, GllaError
from glla.gl import selftest as character

ROOT = Path(__file__).parents[1]


def command(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "glla", *arguments], capture_output=True, text=True, timeout=60, **options
    )


def refuse(*arguments, **options):
    raise ContextError("open_context: no OpenGL 3.3 core context; tried: nothing")


# ---- info ------------------------------------------------------------------------------------


def test_info_json(capsys):
    assert main(["info", "--json"]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    report = json.loads(output.out)
    assert set(report) == {"ok", "device", "limits", "memory", "egl_devices", "versions", "self_test"}
    assert report["ok"] is True
    assert set(report["device"]) == {"renderer", "vendor", "opengl", "glsl", "backend", "software"}
    assert report["device"]["renderer"] == glla.default_device().info.renderer
    assert report["limits"]["texture_side"] == {
        "value": glla.default_device().limits.texture_size,
        "unit": "texels",
    }
    assert all(set(limit) == {"value", "unit"} for limit in report["limits"].values())
    memory = report["memory"]
    assert {"textures_in_use", "bytes_in_use", "bytes_peak"} <= set(memory)
    for kept in ("idle", "of_plans", "of_prepared_plans"):
        assert 0 < memory[f"bytes_{kept}"] <= memory[f"bytes_{kept}_at_most"]
    assert report["memory"]["textures_in_use"] == 0
    assert set(report["versions"]) == {"glla", "Python", "numpy", "moderngl", "glfw"}
    assert report["versions"]["glla"] == glla.__version__
    assert all({"name", "verdict", "necessary", "detail", "figures"} == set(test) for test in report["self_test"])
    assert [one["index"] for one in report["egl_devices"]] == [one.index for one in glla.list_egl_devices()]


def test_info_text_tells_what_json_tells(capsys):
    assert main(["info"]) == 0
    output = capsys.readouterr().out
    device = glla.default_device()
    for word in ("renderer", device.info.renderer, "texels", "self-test passed", "known answers", "moderngl"):
        assert word in output
    assert max(map(len, output.splitlines())) <= 120
    assert not any(line != line.rstrip() for line in output.splitlines())


def test_info_fails_with_a_self_test(capsys, monkeypatch):
    broken = character.Finding("swizzles", False, "wrong", necessary=True, figures={"max_ulps": float("inf")})
    monkeypatch.setattr(cli, "examine", lambda device: [broken])
    assert main(["info"]) == 1
    assert "FAILED  swizzles" in capsys.readouterr().out
    assert main(["info", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is False
    assert report["self_test"][0]["figures"] == {"max_ulps": "inf"}


def test_info_without_a_context(capsys, monkeypatch):
    monkeypatch.setattr(cli, "Device", refuse)
    assert main(["info"]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == "glla: open_context: no OpenGL 3.3 core context; tried: nothing\n"
    assert main(["info", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["ok"], report["error"]) == (False, "open_context: no OpenGL 3.3 core context; tried: nothing")


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ([], ("auto", None, None)),
        (["--backend", "egl", "--index", "3"], ("egl", 3, None)),
        (["--software"], ("auto", None, True)),
        (["--hardware"], ("auto", None, False)),
        (["--device", "software"], ("auto", None, True)),
        (["--device", "Hardware"], ("auto", None, False)),
    ],
)
def test_the_device_asked_for(monkeypatch, arguments, asked):
    seen = []

    def device(*given):
        seen.append(given)
        raise ContextError("enough")

    monkeypatch.setattr(cli, "Device", device)
    assert main(["info", *arguments]) == 1
    assert main(["demo", "--output", os.devnull, *arguments]) == 1
    assert seen == [asked, asked]


def test_devices_that_are_not_there(capsys):
    for arguments, message in (
        (["info", "--device", "99"], "--device: device must be 'software', 'hardware' or an index of `glla info`"),
        (
            ["info", "--device", "0", "--index", "0"],
            "--device stands for --index, got '0' and 0; leave one of them out",
        ),
    ):
        assert main(arguments) == 1
        assert capsys.readouterr().err.startswith(f"glla: {message}")


# ---- usage -----------------------------------------------------------------------------------


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"glla {glla.__version__}\n"


@pytest.mark.parametrize("arguments", [["-h"], ["info", "-h"], ["demo", "-h"]])
def test_help(capsys, arguments):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 0
    assert capsys.readouterr().out.startswith("usage: glla")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: command"),
        (["paint"], "invalid choice: 'paint'"),
        (["info", "--jsno"], "unrecognized arguments: --jsno"),
        (["info", "--software", "--hardware"], "not allowed with argument"),
        (["info", "--software", "--device", "0"], "not allowed with argument"),
        (["info", "--device", "gpu"], "must be 'software', 'hardware' or an index of `glla info`, got 'gpu'"),
        (["info", "--index", "-1"], "--index"),
        (["info", "--backend", "vulkan"], "invalid choice: 'vulkan'"),
        (["demo", "--size", "0"], "must be at least 8, got 0"),
        (["demo", "--size", "many"], "must be a whole number from 0, got 'many'"),
        (["pivoting", "--size", "4"], "must be at least 8, got 4"),
        (["demo", "--seed", "1.5"], "must be a whole number from 0, got '1.5'"),
    ],
)
def test_wrong_usage(capsys, arguments, message):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


# ---- failures --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (GllaError("solve: this and that"), 1, "glla: solve: this and that\n"),
        (PermissionError(13, "Permission denied", "/x/y"), 1, "glla: /x/y: Permission denied\n"),
        (OSError("no such thing"), 1, "glla: system: no such thing\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_failures_are_one_message(capsys, monkeypatch, error, status, message):
    def fail(device):
        raise error

    monkeypatch.setattr(cli, "examine", fail)
    assert main(["info"]) == status
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", message)


def test_a_size_beyond_the_memory_is_an_error(monkeypatch, capsys):
    def no_room(*arguments, **options):
        raise MemoryError("Unable to allocate 71.1 PiB")

    monkeypatch.setattr("glla.lab.trace.run", no_room)
    assert main(["trace", "rref", "--size", "100000000"]) == 1
    assert "not enough memory: Unable to allocate 71.1 PiB; ask for a smaller size" in capsys.readouterr().err


def test_other_errors_are_not_hidden(monkeypatch):
    def fail(device):
        raise ZeroDivisionError

    monkeypatch.setattr(cli, "examine", fail)
    with pytest.raises(ZeroDivisionError):
        main(["info"])


def test_module_runs():
    result = command("info", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["ok"] is True


def test_module_reports_errors():
    result = command("info", "--index", "99")
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith("glla: open_context: no OpenGL 3.3 core context")
    assert "Traceback" not in result.stderr


def test_broken_pipe_is_quiet():
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.Popen([sys.executable, "-m", "glla", "info"], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    _, errors = process.communicate(timeout=60)
    assert errors == ""
    assert process.returncode == 1


@pytest.mark.skipif(os.name == "nt", reason="there are no signals")
@pytest.mark.parametrize("arguments", [["variants", "--count", "--size", "1024"], ["ceilings"]])
def test_ctrl_c_ends_a_long_command(arguments):
    """Within one pass, whose call returns to Python only when it is done; and without a traceback."""
    script = f"""
import os, signal, sys, threading
from glla import cli
opened = cli._open
def open_and_interrupt(options):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    return opened(options)
cli._open = open_and_interrupt
sys.exit(cli.main({arguments!r}))
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")


@pytest.mark.skipif(os.name == "nt", reason="a pseudo-terminal is POSIX's")
def test_long_commands_say_what_they_are_at():
    """On a terminal alone, on stderr: what is printed stays what it is."""
    import pty

    pytest.importorskip("rich")
    watched, terminal = pty.openpty()
    command = [sys.executable, "-m", "glla", "variants", "matmul", "--count", "--size", "4", "--json"]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal, text=True, env=environment)
    os.close(terminal)
    output, _ = process.communicate(timeout=60)
    outcome = b""
    try:
        while part := os.read(watched, 65536):
            outcome += part
    except OSError:  # Linux's way to say that the other end is closed
        pass
    os.close(watched)
    assert json.loads(output)
    assert b"counting fetches: matmul rank_one" in outcome


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell closes the streams")
@pytest.mark.parametrize(
    ("arguments", "closed", "status"),
    [
        ("info", ">&-", 0),
        ("explain plu", ">&- 2>&-", 0),
        ("gallery naive_product", "<&- >&-", 0),
        ("variants rref --size 8", ">&-", 0),
        ("--version", ">&-", 0),
        ("gallery nothing", ">&-", 1),
        ("paint", ">&- 2>&-", 2),
    ],
)
def test_closed_streams_are_quiet(arguments, closed, status):
    script = f"exec {shlex.quote(sys.executable)} -m glla {arguments} {closed}"
    result = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60)
    assert result.returncode == status, result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    if status == 0 or "2>&-" in closed:
        assert result.stderr == ""
    else:
        assert "glla" in result.stderr  # the message is still there


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell closes the streams")
def test_what_is_printed_does_not_land_in_a_file_that_is_written(tmp_path):
    """With stdout closed, the next file that opens gets its number, 1: what C libraries print would land there."""
    script = f"exec {shlex.quote(sys.executable)} -m glla trace plu --size 4 --out trace.json >&-"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    result = subprocess.run(
        ["sh", "-c", script], capture_output=True, text=True, timeout=60, cwd=tmp_path, env=environment
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads((tmp_path / "trace.json").read_text())


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
@pytest.mark.parametrize(
    "arguments", [["variants"], ["explain", "plu"], ["gallery", "naive_product"], ["gallery", "\udcff\u2028\U0001f600"]]
)
def test_every_terminal_can_show_what_is_printed(arguments, encoding):
    """What its encoding does not have is printed as an escape sequence."""
    command = [sys.executable, "-m", "glla", *arguments]
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    result = subprocess.run(command, capture_output=True, timeout=60, env=environment)
    assert b"Traceback" not in result.stderr
    assert result.returncode == (0 if result.stdout else 1)
    result.stdout.decode(encoding)


def test_streams_are_as_they_were():
    stream = io.TextIOWrapper(io.BytesIO(), "ascii", errors="strict")
    with redirect_stdout(stream):
        assert main(["gallery", "nothing"]) == 1
    assert stream.errors == "strict"


def test_streams_that_were_missing_are_missing_again(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["gallery", "nothing"]) == 1
    assert (sys.stdout, sys.stderr) == (None, None)


def test_info_needs_nothing_of_the_lab():
    script = """
import sys

for name in ("rich", "matplotlib", "scipy", "pywt"):
    sys.modules[name] = None

from glla.cli import main

assert main(["info"]) == 0
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
