"""The `glla` command: what it prints, where, and its exit status."""

import io
import json
import os
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

import glla
from glla import cli
from glla.cli import main, options, report
from glla.errors import ContextError, GllaError, OutOfMemoryError
from glla.gl import selftest as character
from tests.beside import run_python

ROOT = Path(__file__).parents[1]


def refuse(*arguments, **options):
    raise ContextError("open_context: no OpenGL 3.3 core context; tried: nothing")


# ---- info ------------------------------------------------------------------------------------


def test_info_json(capsys):
    assert main(["info", "--json"]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    found = json.loads(output.out)
    assert set(found) == {
        "glla", "command", "ok", "device", "limits", "memory", "egl_devices", "versions", "self_test",
    }  # fmt: skip
    assert found["ok"] is True
    assert set(found["device"]) == {"renderer", "vendor", "opengl", "glsl", "backend", "software"}
    assert found["device"]["renderer"] == glla.default_device().info.renderer
    assert found["limits"]["texture_side"] == {"value": glla.default_device().limits.texture_size, "unit": "texels"}
    assert all(set(limit) == {"value", "unit"} for limit in found["limits"].values())
    memory = found["memory"]
    assert {"textures_in_use", "bytes_in_use", "bytes_peak"} <= set(memory)
    for kept in ("idle", "of_plans", "of_prepared_plans"):
        assert 0 < memory[f"bytes_{kept}"] <= memory[f"bytes_{kept}_at_most"]
    assert found["memory"]["textures_in_use"] == 0
    assert set(found["versions"]) == {"glla", "Python", "numpy", "moderngl", "glfw"}
    assert found["versions"]["glla"] == glla.__version__
    assert all({"name", "ok", "verdict", "necessary", "detail", "figures"} == set(test) for test in found["self_test"])
    assert [one["index"] for one in found["egl_devices"]] == [one.index for one in glla.devices()]


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
    monkeypatch.setattr(report, "examine", lambda device: [broken])
    assert main(["info"]) == 1
    assert "FAILED  swizzles" in capsys.readouterr().out
    assert main(["info", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] is False
    assert found["self_test"][0]["figures"] == {"max_ulps": "inf"}


def test_info_without_a_context(capsys, monkeypatch):
    monkeypatch.setattr(options, "Device", refuse)
    assert main(["info"]) == 3
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == "glla: open_context: no OpenGL 3.3 core context; tried: nothing\n"
    assert main(["info", "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert (found["ok"], found["error"]) == (False, "open_context: no OpenGL 3.3 core context; tried: nothing")


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ([], ("auto", None, None)),
        (["--device", "0"], ("auto", 0, None)),
        (["--device", "software"], ("auto", None, True)),
        (["--device", "Hardware"], ("auto", None, False)),
    ],
)
def test_the_device_asked_for(monkeypatch, arguments, asked):
    seen = []

    def device(*given):
        seen.append(given)
        raise ContextError("enough")

    monkeypatch.setattr(options, "Device", device)
    assert main(["info", *arguments]) == 3
    assert main(["ceilings", *arguments]) == 3
    assert seen == [asked, asked]


def test_devices_that_are_not_there(capsys):
    assert main(["info", "--device", "99"]) == 2
    message = "glla: --device: device must be 'software', 'hardware' or an index of `glla info`"
    assert capsys.readouterr().err.startswith(message)


# ---- usage -----------------------------------------------------------------------------------


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"glla {glla.__version__}\n"


COMMANDS = [name for group in cli.COMMANDS.values() for name in group]


@pytest.mark.parametrize("arguments", [[], ["-h"], ["--help"]])
def test_the_overview_fits_a_screen(capsys, arguments):
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 30 and max(map(len, lines)) <= 110
    assert all(any(f" {name} " in line for line in lines) for name in COMMANDS)


@pytest.mark.parametrize("word", ["--help", "--version", "gallery"])
def test_the_overview_is_light(word):
    asked = [sys.executable, "-X", "importtime", "-m", "glla", word]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=60)
    assert done.returncode == (2 if word == "gallery" else 0)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "glla.cli" in imported and not imported & {"numpy", "moderngl", "glfw", "glla.gl", "glla.lab"}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_a_screen(capsys, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stop:
        main([name, "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert text.startswith(f"usage: glla {name}") and text.count("\n") <= 40
    assert "exit status: 0 good, 1 a wrong result, 2 wrong usage" in " ".join(text.split())


@pytest.mark.parametrize(
    ("word", "now"),
    [("life", "demo life"), ("adjugate", "study adjugate"), ("gallery", "shader"), ("compair", "compare"), ("xyz", "")],
)
def test_words_that_are_no_command(capsys, word, now):
    assert main([word]) == 2
    errors = capsys.readouterr().err
    assert f"there is no command {word!r}" in errors and ("did you mean: glla" in errors) == bool(now)
    assert f"glla {now}" in errors


def test_completion_knows_commands_and_options(capsys):
    pytest.importorskip("shtab")
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    assert all(word in script for word in (*COMMANDS, "--device", "elimination", "interface"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("info --jsno", "unrecognized arguments: --jsno"),
        ("info --device gpu", "must be 'software', 'hardware' or an index of `glla info`, got 'gpu'"),
        ("demo --size 0", "must be a whole number from 8, got '0'"),
        ("demo --size many", "must be a whole number from 8, got 'many'"),
        ("demo paint", "WHAT must be one of operations, elimination, life, stencil, restoration, "),
        ("demo lif", "got 'lif'; did you mean 'life'?"),
        ("compare matmull", "OP must be one of cho_factor, cho_solve, "),
        ("compare matmull", " more, got 'matmull'; did you mean 'matmul'?"),
        ("study", "required: WHAT"),
        ("study pivoting --size 4", "must be a whole number from 8, got '4'"),
        ("demo --seed 1.5", "must be a whole number from 0, got '1.5'"),
        ("compare eig", " more, got 'eig'; did you mean 'eigh'?"),
        ("compare matmul --size 64:", "64:2048:log8 is 8 sizes from 64 to 2048"),
        ("compare matmul --size 0", "1 to 1000 sizes, from 1 on, got '0'"),
        ("compare matmul --repeats 0", "must be a whole number from 1, got '0'"),
        ("compare matmul --repeats -1", "must be a whole number from 1, got '-1'"),
        ("compare matmul --baseline lapack", "--baseline must be one of auto, numpy, scipy, none, got 'lapack'"),
        ("compare matmul --seed -1", "must be a whole number from 0, got '-1'"),
        *((f"compare matmul --param {one}", f"must be NAME=V1,V2,... with whole numbers, got {one!r}")
          for one in ("UNROLL", "UNROLL=", "=1", "UNROLL=a", "UNROLL=1,")),
        *((f"{one} plu --size 0", "must be a whole number from 1, got '0'")
          for one in ("trace", "explain", "variants")),
        ("compare plu --size 1000000000", "sizes: 16777216 at most, got '1000000000'"),
        ("explain spmv --size 1000000000", "argument --size: must be 16777216 at most, got '1000000000'"),
        ("trace plu --ranks 100000 --out a.json", "argument --ranks: must be 256 at most, got '100000'"),
    ],
)  # fmt: skip
def test_wrong_usage(capsys, line, message):
    with pytest.raises(SystemExit) as stop:
        main(line.split())
    assert stop.value.code == 2 and message in capsys.readouterr().err


# ---- failures --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (GllaError("solve: this and that"), 2, "glla: solve: this and that\n"),
        (OutOfMemoryError("no room"), 3, "glla: no room\n"),
        (PermissionError(13, "Permission denied", "/x/y"), 2, "glla: /x/y: Permission denied\n"),
        (OSError("no such thing"), 2, "glla: system: no such thing\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_failures_are_one_message(capsys, monkeypatch, error, status, message):
    def fail(device):
        raise error

    monkeypatch.setattr(report, "examine", fail)
    assert main(["info"]) == status
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", message)


def test_a_size_beyond_the_memory_is_an_error(monkeypatch, capsys):
    def no_room(*arguments, **options):
        raise MemoryError("Unable to allocate 71.1 PiB")

    monkeypatch.setattr("glla.lab.trace.run", no_room)
    assert main(["trace", "rref", "--size", "10000000"]) == 3
    assert "not enough memory: Unable to allocate 71.1 PiB; ask for a smaller size" in capsys.readouterr().err


def test_other_errors_are_not_hidden(monkeypatch):
    def fail(device):
        raise ZeroDivisionError

    monkeypatch.setattr(report, "examine", fail)
    with pytest.raises(ZeroDivisionError):
        main(["info"])


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
from glla.cli import compare, look, options
opened = options.opened
def open_and_interrupt(options):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    return opened(options)
compare.opened = look.opened = open_and_interrupt
sys.exit(cli.main({arguments!r}))
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")


@pytest.mark.skipif(os.name == "nt", reason="a pseudo-terminal is POSIX's")
def test_long_commands_say_what_they_are_at():
    """On a terminal alone, on stderr: what is printed stays what it is."""
    import pty

    pytest.importorskip("rich")
    try:
        watched, terminal = pty.openpty()
    except OSError:
        pytest.skip("this machine has no pseudo-terminals")
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
        ("shader show naive_product", "<&- >&-", 0),
        ("variants rref --size 8", ">&-", 0),
        ("--version", ">&-", 0),
        ("shader show nothing", ">&-", 2),
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
    "arguments",
    [
        ["variants"],
        ["explain", "plu"],
        ["shader", "show", "naive_product"],
        ["shader", "show", "\udcff\u2028\U0001f600"],
    ],
)
def test_every_terminal_can_show_what_is_printed(arguments, encoding):
    """What its encoding does not have is printed as an escape sequence."""
    out = io.TextIOWrapper(io.BytesIO(), encoding, write_through=True)
    errors = io.TextIOWrapper(io.BytesIO(), encoding, "backslashreplace", write_through=True)  # as Python's own
    with redirect_stdout(out), redirect_stderr(errors):
        status = main(arguments)
    assert status == (0 if out.buffer.getvalue() else 2)
    assert (out.buffer.getvalue() or errors.buffer.getvalue()).decode(encoding)


def test_streams_are_as_they_were():
    stream = io.TextIOWrapper(io.BytesIO(), "ascii", errors="strict")
    with redirect_stdout(stream):
        assert main(["shader", "show", "nothing"]) == 2
    assert stream.errors == "strict"


def test_streams_that_were_missing_are_missing_again(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["shader", "show", "nothing"]) == 2
    assert (sys.stdout, sys.stderr) == (None, None)


def test_info_needs_nothing_of_the_lab():
    script = """
import sys

for name in ("rich", "matplotlib", "scipy", "pywt"):
    sys.modules[name] = None

from glla.cli import main

assert main(["info"]) == 0
"""
    run_python(script)


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("trace plu --size 4", "trace"),
        ("variants rref --size 8", "variants"),
        ("shader list", "shaders"),
        ("cluster plan plu --size 16 --nb 4", "steps"),
        ("cluster predict --nodes 4 --size 256 --nb 64", "predicted"),
        ("study sweeps --size 8 --count 2", "sweeps"),
    ],
)
def test_tables_are_documents_too(capsys, line, key):
    assert main([*line.split(), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["glla"], found["command"]) == (glla.__version__, f"glla {line} --json")
    assert found[key] and "device" in found
