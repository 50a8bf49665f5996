"""Results that their certificate does not accept: an error with both numbers, or another variant."""

import numpy as np
import pytest

import glla
from glla.errors import ConvergenceError
from glla.operations.spectral import certificate
from tests.spectral.matrices import normal

every_place = pytest.mark.parametrize("place", [np.asarray, glla.asarray], ids=["host", "device"])


def operands(name, n, rng):
    if name == "eigh_tridiagonal":
        return [np.float32(rng.standard_normal(size)) for size in (n, n - 1)]
    return [np.float32(normal(n, rng) if name == "eigh" else rng.standard_normal((n, n - 1)))]


@every_place
@pytest.mark.parametrize("name", ["eigh", "svd", "eigh_tridiagonal"])
def test_an_alarm_is_an_error_with_both_numbers(name, place, monkeypatch, rng):
    monkeypatch.setattr(certificate, "ALARM", 1e-3)
    given, function = [place(one) for one in operands(name, 8, rng)], getattr(glla, name)
    what = "singular vectors" if name == "svd" else "eigenvectors"
    with pytest.raises(ConvergenceError, match=rf"^{name}: the {what} are not accepted: its residual is 0.* n u"):
        function(*given)
    values = function(*given, check_finite=False)[1 if name == "svd" else 0]
    assert values.shape == (7 if name == "svd" else 8,)


@every_place
@pytest.mark.parametrize(
    ("name", "variant", "other"),
    [("eigh", None, "jacobi"), ("eigh", "jacobi_angles", "tridiagonal"), ("svd", None, "one_sided")],
)
def test_an_alarm_is_followed_by_another_variant(name, place, variant, other, monkeypatch, rng):
    (a,), real, seen = map(place, operands(name, 20, rng)), certificate.of, []

    def of(*texels):
        seen.append(real(*texels))
        return seen[-1] if len(seen) > 1 else seen[-1]._replace(residual=11.0)

    expected = [np.asarray(one).tobytes() for one in getattr(glla, name)(a, variant=other)]
    monkeypatch.setattr(certificate, "of", of)
    found = [np.asarray(one).tobytes() for one in getattr(glla, name)(a, variant=variant)]
    assert len(seen) == 2 and found == expected
