"""Libraries that take arrays of the array API: array-api-compat, scikit-learn and SciPy, as the lock has them."""

import numpy as np
import pytest

import glla
from glla import array_api as xp
from tests.beside import run_python

SKLEARN = """
import warnings

import numpy as np
import sklearn
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge, RidgeCV
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, mean_squared_error, r2_score
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer, KernelCenterer, LabelBinarizer, LabelEncoder, MaxAbsScaler, MinMaxScaler, Normalizer,
    PolynomialFeatures, StandardScaler,
)
from sklearn.utils._array_api import move_estimator_to

import glla

sklearn.set_config(array_api_dispatch=True)
a = np.random.default_rng(7).normal(size=(60, 4)).astype(np.float32)
weights = np.float32([1, -2, 3, 0.5])
A = glla.asarray(a)
y = a @ weights
Y = A @ weights


def close(result, expected, tolerance=1e-5):
    assert isinstance(result, glla.Array), type(result)
    np.testing.assert_allclose(result.numpy(), expected, rtol=tolerance, atol=tolerance)


for transformer in (StandardScaler, MinMaxScaler, MaxAbsScaler, Binarizer, Normalizer, PolynomialFeatures):
    close(transformer().fit_transform(A), transformer().fit_transform(a))
close(KernelCenterer().fit_transform(A @ A.T), KernelCenterer().fit_transform(a @ a.T), 1e-4)
scaler = StandardScaler().fit(A)
assert isinstance(scaler.mean_, glla.Array)
close(scaler.inverse_transform(scaler.transform(A)), a)
for score in (r2_score, mean_squared_error):
    assert abs(score(Y, Y + 0.1 * A[:, 0]) - score(y, y + 0.1 * a[:, 0])) < 1e-5
close(euclidean_distances(A), euclidean_distances(a), 1e-3)
close(rbf_kernel(A, A[:5]), rbf_kernel(a, a[:5]))
truth, guess = y > 0, a[:, 0] > 0
T, G = (glla.asarray(one, dtype="int32") for one in (truth, guess))
assert abs(accuracy_score(T, G) - accuracy_score(truth, guess)) < 1e-6
assert abs(f1_score(T, G) - f1_score(truth, guess)) < 1e-6
assert (np.asarray(confusion_matrix(T, G)) == confusion_matrix(truth, guess)).all()
parts = zip(train_test_split(A, Y, random_state=0), train_test_split(a, y, random_state=0))
for part, expected in parts:
    close(part, expected)
labels = np.int32([40, 7, 100])[np.digitize(y, [-2, 2])]  # NumPy's hash does not sort them
L = glla.asarray(labels, dtype="int32")
for coder in (LabelEncoder, LabelBinarizer):
    coded, expected = coder().fit(L), coder().fit(labels)
    close(coded.transform(L), expected.transform(labels))
    close(coded.inverse_transform(coded.transform(L)), labels)
for make, (target, Target) in (
    (LinearRegression, (y, Y)),
    (lambda: make_pipeline(StandardScaler(), LinearRegression()), (y, Y)),
    (lambda: Ridge(solver="svd"), (y, Y)),
    (RidgeCV, (y, Y)),
    (LinearDiscriminantAnalysis, (labels, L)),
    (PoissonRegressor, (abs(y), abs(Y))),
    (GaussianNB, (labels, L)),
    (LogisticRegression, (labels, L)),
    (lambda: make_pipeline(StandardScaler(), GaussianNB()), (labels, L)),
    (lambda: GaussianMixture(2, init_params="random", random_state=0), (None, None)),
):
    model, expected = make().fit(A, Target), make().fit(a, target)
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(expected, method):
            close(getattr(model, method)(A), getattr(expected, method)(a), 1e-4)
    assert abs(model.score(A, Target) - expected.score(a, target)) < 1e-5
    if target is not None:
        scores = (cross_val_score(make(), *given, error_score="raise") for given in ((A, Target), (a, target)))
        np.testing.assert_allclose(*scores, atol=1e-3)  # some are of iterations
plain = LinearRegression(fit_intercept=False).fit(A, Y)  # its coefficients stay on the host, as SciPy gives them
close(move_estimator_to(plain, A.__array_namespace__(), A.device).predict(A), y, 1e-4)
for solver in ("full", "covariance_eigh", "randomized", "auto"):
    make = lambda: PCA(2, svd_solver=solver, power_iteration_normalizer="QR", random_state=0)
    model, expected = make().fit(A), make().fit(a)
    close(model.explained_variance_ratio_, expected.explained_variance_ratio_)
    close(model.transform(A), expected.transform(a), 1e-4)
    close(model.inverse_transform(model.transform(A)), expected.inverse_transform(expected.transform(a)), 1e-4)
close(*(abs(Nystroem(n_components=4, random_state=0).fit_transform(one)) for one in (A, a)), 1e-3)
print("done")
"""


def test_scikit_learn():
    """In another process: what it sets counts for all of the libraries."""
    pytest.importorskip("sklearn")
    assert run_python(SKLEARN, limit=120, quiet=False, SCIPY_ARRAY_API="1") == "done\n"


SCIPY = """
import numpy as np
from scipy import special, stats
from scipy.cluster import vq
from scipy.integrate import trapezoid

import glla

a = np.random.default_rng(7).uniform(0.1, 2, (20, 3)).astype(np.float32)
A = glla.asarray(a)
for function in (
    special.logsumexp, special.erf, stats.zscore, stats.skew, stats.gmean, stats.rankdata, vq.whiten, trapezoid,
    lambda x: stats.ttest_ind(x[:, 0], x[:, 1]).pvalue,
):
    result = function(A)
    assert isinstance(result, glla.Array), (function, type(result))
    np.testing.assert_allclose(result.numpy(), function(a), rtol=1e-4, atol=1e-5)
print("done")
"""


def test_scipy():
    """SciPy is an extra of the tests; its functions look for the namespace if SCIPY_ARRAY_API is set."""
    pytest.importorskip("scipy")
    assert run_python(SCIPY, limit=120, quiet=False, SCIPY_ARRAY_API="1") == "done\n"


def test_array_api_compat(device):
    compat = pytest.importorskip("array_api_compat")
    A = glla.asarray(np.ones((2, 3)))
    assert compat.is_array_api_obj(A)
    assert compat.array_namespace(A, A) is xp
    assert compat.device(A) is device
    assert compat.to_device(A, device) is A
    assert compat.size(A) == 6
    assert not compat.is_lazy_array(A)
    assert compat.is_writeable_array(A)


def test_devices_are_compared_and_hashed(device):
    with glla.Device() as other:
        assert device == device and device != other
        assert len({device, other, glla.asarray(1).device}) == 2
