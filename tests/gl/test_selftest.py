"""The self-test: passes here, and fails on a device that is wrong."""

import numpy as np
import pytest

from glla.gl import selftest
from glla.gl.selftest import Finding, examine, operand_pairs, passed, ulps

pytestmark = pytest.mark.newer_gl

NECESSARY = {
    "known answers": "probe_answers",
    "swizzles": "probe_swizzle",
    "float blending": "probe_blending",
    "NaN and infinity": "probe_arithmetic",
    "loops": "probe_loops",
}
"""Finding -> the plan it rests on."""


class Faulty:
    """A device that spoils the first value of whatever one plan computes."""

    def __init__(self, device, operation, spoil):
        self._device = device
        self._operation = operation
        self._spoil = spoil
        self._spoiled = []
        self.limits = device.limits
        self.write_texels = device.write_texels

    def run(self, plan, **operands):
        results = self._device.run(plan, **operands)
        if plan.operation == self._operation:
            self._spoiled += results.values()
        return results

    def read(self, texture):
        texels = self._device.read(texture)
        if texture in self._spoiled:
            texels.flat[0] = self._spoil(texels.flat[0])
        return texels


def by_name(findings):
    return {finding.name: finding for finding in findings}


def test_this_device_passes(device):
    findings = examine(device)
    assert passed(findings), [finding for finding in findings if not finding.ok]
    assert {finding.name for finding in findings if finding.necessary} == set(NECESSARY)
    assert len(by_name(findings)) == 12
    assert all(finding.detail and finding.figures and finding.verdict in ("ok", "note") for finding in findings)
    assert (Finding("x", True, "").verdict, Finding("x", False, "").verdict) == ("ok", "note")
    assert not passed([Finding("x", True, "", necessary=True), Finding("x", False, "", necessary=True)])
    assert passed([Finding("x", False, "")])


@pytest.mark.parametrize("wrong", [3.0, np.inf, np.nan], ids=str)
@pytest.mark.parametrize("name", NECESSARY)
def test_one_wrong_value_fails(device, name, wrong):
    if name == "NaN and infinity" and np.isnan(wrong):
        wrong = -np.inf  # its first value must be NaN
    findings = by_name(examine(Faulty(device, NECESSARY[name], lambda value: np.float32(wrong))))
    assert not findings[name].ok and findings[name].verdict == "FAILED"
    assert not passed(list(findings.values()))
    if name == "known answers":
        assert findings[name].detail == f"texel (0, 0), channel r is {wrong}, expected 0.0; 1 wrong in all"
        assert findings[name].figures == {"wrong_values": 1}


def test_a_short_loop_fails_only_below_what_glla_needs(device):
    def looped(counts):
        class Short(Faulty):
            def read(self, texture):
                return np.array(counts, dtype=np.float32).reshape(1, -1, 1)

        return selftest._loops(Short(device, "", None))[0]

    needed = device.limits.loop_trips
    assert looped([needed, 65535, 65536, 100000, 200000]).figures["longest"] == 200000
    capped = looped([needed, 65535, 65535, 65535, 65535])
    assert capped.ok
    assert capped.figures == {"needed": needed, "longest": 65535}
    assert looped([1000] * 5).verdict == "FAILED"


@pytest.mark.parametrize(
    ("row", "detail"),
    [
        ([0, 2.0**-30, 2.0**-130, 0], "kept: copies, operands"),
        ([0, 0, 0, 0], "flushed to zero: copies, operands, results, blending"),
    ],
)
def test_denormals(device, row, detail):
    class Flushing(Faulty):
        def read(self, texture):
            storage = texture.storage
            texels = np.zeros((storage.height, storage.width, 4), np.float32)
            if storage.width == 2:
                texels[0, 0] = row
            return texels

    finding = selftest._denormals(Flushing(device, "", None))[0]
    assert finding.verdict == "note"
    assert detail in finding.detail


def test_inexact_division_is_a_note(device):
    findings = by_name(examine(Faulty(device, "probe_accuracy", lambda value: value * np.float32(1 + 2.0**-21))))
    assert findings["division"].verdict == "note"
    assert 3 < findings["division"].figures["max_ulps"] < 9
    assert passed(list(findings.values()))


def test_findings_about_rounding():
    exact = np.array([1.0, 3.0])
    assert ulps(np.array([1, 3], np.float32), exact) == 0
    assert ulps(np.array([1 + 2.0**-23, 3], np.float32), exact) == 1
    assert ulps(np.array([1, np.nan], np.float32), exact) == np.inf
    assert ulps(np.array([np.inf, 3], np.float32), exact) == np.inf
    assert selftest._contraction(fused=False, separate=True).ok
    fused = selftest._contraction(fused=True, separate=False)
    assert (fused.verdict, fused.detail) == ("note", "one rounding (fused)")
    assert "neither" in selftest._contraction(fused=False, separate=False).detail
    texels = np.zeros((2, 2, 4), np.float32)
    assert selftest._folding(texels).ok
    texels[..., 1] = 1
    assert selftest._folding(texels).detail.endswith("not behind a uniform factor of 1")
    texels[..., 2] = 1
    assert selftest._folding(texels).figures == {"folded": True, "folded_behind_uniform": True}


def test_operands_have_normal_quotients():
    for name, pairs in operand_pairs().items():
        assert np.isfinite(pairs).all()
        quotients = np.abs(pairs[:, 0].astype(np.float64) / pairs[:, 1])
        assert quotients.min() >= 2.0**-126, name
        assert quotients.max() < 2.0**127, name
    large = operand_pairs()["large"][:, 1]
    assert large.min() >= 2.0**126
    assert large.max() == np.finfo(np.float32).max
