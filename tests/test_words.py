"""The words of errors: `refused.txt` has calls, and what each of them raises, or gives if it is let through.

`A` is an Array, the 2 x 2 identity, and the same afterwards. Three dots stand for words that depend on rounding, on the
device, on NumPy, or on how many operations there are; `python -m tests.test_words` writes anew what does not match.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import glla
from glla import array_api, cluster, testing
from glla.applications import ShallowWater, restore, window_squares
from tests.matrix import on_device
from tests.test_kernels import OUT, SCALE, WAVE

RECORD = Path(__file__).with_name("refused.txt")


def made(value: object, dtype: str = "float32") -> glla.Array:
    return glla.asarray(value, dtype=dtype, check_finite=False)


def into(value: object, out: object) -> None:
    np.add(value, 1, out=out)


def assign(A: glla.Array, index: object, value: object) -> None:
    A[index] = value


class Elsewhere:
    """A tensor on a CUDA device, or one of a dtype that NumPy has not."""

    def __init__(self, device: int) -> None:
        self.device = device

    def __dlpack__(self, **options: object) -> None:
        raise BufferError("not for you")

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0


NUMBERS = """\
#include "lib/array.glsl"
uniform isampler2D A;
layout(location = 0) out ivec4 r;
int f(int i) { return element(A, i); }
void main() { r = each_element(f); }
"""
LINE = 2 * np.eye(3) - np.eye(3, k=1) - np.eye(3, k=-1)
NAMES = {name: getattr(np, name) for name in ("diag", "eye", "float32", "inf", "nan", "stack", "tril", "triu")} | {
    "steep": np.eye(8) - 2.0**30 * np.eye(8, k=1),  # of its inverse 2^210 is an entry
    "unit": np.eye(8, 1, -7),
    "banded": np.eye(17) - 1000 * np.eye(17, k=-1),
    "poisson": np.kron(LINE, np.eye(3)) + np.kron(np.eye(3), LINE),
    "wide": np.where(np.arange(16).reshape(4, 4) % 3, 3e38, -3e38),
    "sharpen": 10 * np.outer([0, 1, 0], [0, 1, 0]) - np.ones((3, 3)),
    "array": on_device, "glla": glla, "L": glla.sparse.linalg, "np": np, "xp": array_api, "Array": glla.Array,
    "ones": lambda *shape: np.ones(shape), "zeros": lambda *shape: np.zeros(shape),
    "made": made, "into": into, "assign": assign, "Elsewhere": Elsewhere,
    "kernel": partial(glla.kernel, name="k.frag"), "SCALE": SCALE, "WAVE": WAVE, "OUT": OUT, "NUMBERS": NUMBERS,
    "cluster": cluster, "sp": scipy.sparse, "testing": testing,
    "ShallowWater": ShallowWater, "restore": restore, "window_squares": window_squares,
}  # fmt: skip


def recorded() -> Iterator[tuple[str, str]]:
    """Calls, and what they raise."""
    lines = RECORD.read_text(encoding="utf-8").splitlines()
    yield from zip(lines[::2], (line.strip() for line in lines[1::2]), strict=True)


def raised(call: str) -> str:
    """What a call raises, or gives, in a line."""
    with glla.asarray(np.eye(2)) as A:  # NumPy keeps it for ever where a method of an override's ufunc raises
        try:
            text = f"{eval(call, NAMES | {'A': A})}"
        except (glla.errors.GllaError, AttributeError, TypeError, ValueError, BufferError) as error:
            text = f"{type(error).__name__}: {error}"
        np.testing.assert_array_equal(A.numpy(), np.eye(2))
    return " ".join(text.split())


def matches(words: str, found: str) -> bool:
    """Whether an error has these words."""
    return re.fullmatch(re.escape(words).replace(re.escape("..."), ".*"), found) is not None


@pytest.mark.filterwarnings("ignore::glla.errors.GrowthWarning")
@pytest.mark.parametrize(("call", "words"), list(recorded()), ids=lambda one: one[:40])
def test_the_words_of_an_error(call, words):
    found = raised(call)
    assert matches(words, found), found


if __name__ == "__main__":
    anew = [(call, words if matches(words, raised(call)) else raised(call)) for call, words in recorded()]
    RECORD.write_text("".join(f"{call}\n  {words}\n" for call, words in anew), encoding="utf-8")
