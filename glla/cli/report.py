"""The report of `glla info`: device, limits, memory, versions, self-test, as data and as text."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import glla
from glla import Device
from glla.gl.selftest import examine, passed
from glla.lab.machine import versions

PACKAGES = ("numpy", "moderngl", "glfw")
"""Distributions that glla requires."""

KINDS = {True: "software", False: "hardware"}
LABELS = {"renderer": "renderer", "vendor": "vendor", "OpenGL": "opengl", "GLSL": "glsl", "context": "backend"}
MEMORY = {
    "textures in use": "{textures_in_use}, {bytes_in_use} bytes",
    "textures kept for reuse": "{textures_idle}, {bytes_idle} bytes of {bytes_idle_at_most}",
    "plans kept": "about {bytes_of_plans} bytes of {bytes_of_plans_at_most}",
    "prepared plans kept": "about {bytes_of_prepared_plans} bytes of {bytes_of_prepared_plans_at_most}",
    "most so far": "{bytes_peak} bytes",
    "programs kept": "{programs}, about {bytes_of_programs} bytes of {bytes_of_programs_at_most}",
    "framebuffers": "{framebuffers}",
}
NAME_WIDTH = 40


def of(device: Device) -> dict[str, Any]:
    """Return the report of `glla info` as plain data."""
    findings = examine(device)
    info, stats = device.info, device.stats()
    return {
        "ok": passed(findings),
        "device": {
            "renderer": info.renderer,
            "vendor": info.vendor,
            "opengl": info.version,
            "glsl": info.glsl,
            "backend": info.backend,
            "software": info.software,
        },
        "limits": _limits(device),
        "memory": {
            "textures_in_use": stats.textures,
            "bytes_in_use": stats.bytes,
            "textures_idle": stats.idle_textures,
            "bytes_idle": stats.idle_bytes,
            "bytes_idle_at_most": stats.max_idle_bytes,
            "bytes_peak": stats.peak_bytes,
            "bytes_of_plans": stats.plan_bytes,
            "bytes_of_plans_at_most": stats.max_plan_bytes,
            "bytes_of_prepared_plans": stats.call_bytes,
            "bytes_of_prepared_plans_at_most": stats.max_call_bytes,
            "framebuffers": stats.framebuffers,
            "programs": stats.programs,
            "bytes_of_programs": stats.program_bytes,
            "bytes_of_programs_at_most": stats.max_program_bytes,
        },
        "egl_devices": egl_devices(device),
        "versions": versions(PACKAGES),
        "self_test": [{**asdict(finding), "verdict": finding.verdict} for finding in findings],
    }


def _limits(device: Device) -> dict[str, dict[str, Any]]:
    """Return all relevant limits, with their units."""
    info, limits = device.info, device.limits
    rows: list[tuple[str, Any, str]] = [
        ("texture_side", limits.texture_size, "texels"),
        ("matrix_side_in_one_texture", 2 * limits.texture_size, "elements"),
        ("viewport", list(info.viewport), "pixels"),
        ("targets_of_a_pass", limits.draw_buffers, "textures"),
        ("loop_trips_of_a_fragment", limits.loop_trips, "trips"),
        ("fragment_texture_units", info.extra.get("GL_MAX_TEXTURE_IMAGE_UNITS"), "textures"),
        ("vertex_texture_units", info.extra.get("GL_MAX_VERTEX_TEXTURE_IMAGE_UNITS"), "textures"),
        ("fragment_uniforms", info.extra.get("GL_MAX_FRAGMENT_UNIFORM_COMPONENTS"), "components"),
        ("uniform_block", info.uniform_block_bytes, "bytes"),
    ]
    return {name: {"value": value, "unit": unit} for name, value, unit in rows if value is not None}


def egl_devices(device: Device | None = None) -> list[dict[str, Any]]:
    """List EGL's devices as plain data, the one in use marked."""
    used = "" if device is None else device.info.backend
    devices = glla.devices()
    return [asdict(one) | {"in_use": used.startswith(f"EGL device {one.index} ")} for one in devices]


def text(report: dict[str, Any]) -> str:
    """Format the report as aligned text."""
    parts = []
    for title, rows in _sections(report).items():
        parts.append("\n".join([title, *(f"  {name.replace('_', ' '):{NAME_WIDTH}}{value}" for name, value in rows)]))
    parts.append(
        "self-test passed (a note is worth knowing, and no failure)"
        if report["ok"]
        else "self-test FAILED: results of glla are wrong on this device"
    )
    return "\n\n".join(parts)


def _sections(report: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
    device, limits = report["device"], report["limits"]
    return {
        "device": [*((key, device[name]) for key, name in LABELS.items()), ("kind", KINDS[device["software"]])],
        "limits": [(name, _quantity(limit["value"], limit["unit"])) for name, limit in limits.items()],
        "memory": [(name, words.format(**report["memory"])) for name, words in MEMORY.items()],
        "EGL devices": [
            (f"index {one['index']}", f"{KINDS[one['software']]}: {one['name']}{', in use' if one['in_use'] else ''}")
            for one in report["egl_devices"]
        ]
        or [("none", "")],
        "versions": list(report["versions"].items()),
        "self-test": [(f"{test['verdict']:8}{test['name']}", test["detail"]) for test in report["self_test"]],
    }


def _quantity(value: Any, unit: str) -> str:
    return f"{' x '.join(map(str, value)) if isinstance(value, list) else value} {unit}"
