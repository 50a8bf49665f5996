"""Pages take the next plan where glla does: the same plans one after the other, and the same end."""

import re
import warnings
from itertools import islice

import numpy as np
import pytest

import glla
from glla.errors import GllaError
from glla.lab import operations
from glla.linalg.execution import on_device, run_stages
from glla.operations import OPERATIONS
from glla.passes import forms_of
from glla.testing.adversaries import growing, hidden_singular
from glla.web import documents, scripts, stages
from glla.web.page import in_script

from .conftest import script, told


def in_a_browser(browser, path, pages):
    """What a page without a view tells of documents and their cases; it compiles a program once."""
    player, *first = (scripts.FOLDER / f"{name}.js" for name in scripts.FIRST)
    rooms = []
    for name in {document["operation"] for document, _ in pages}:
        text = "".join(map(scripts.read, [*first, *scripts.of(name)]))
        rooms.append(f"ROOMS.{name} = () => {{\n{text}\nreturn {{ next, HOSTS, verdict }};\n}};\n")
    made = [
        {"document": document, "cases": [{name: documents._data(one) for name, one in case.items()} for case in cases]}
        for document, cases in pages
    ]
    text = f"{scripts.read(player)}{script('shared')}const ROOMS = {{}};\n{''.join(rooms)}{script('stages')}"
    data = f'<script type="application/json" id="data">{in_script(made)}</script>'
    return told(browser, path, f"{data}<script>{text}</script>")[0]


OPTIONS = {
    "function": "f", "which": "", "refine": False, "check_finite": True, "pivoting": "partial", "tol": None,
    "lower": False, "unit_diagonal": False, "transposed": False, "definite": False,
}  # fmt: skip


def by_glla(name, variant, arrays):
    """Stages that a call goes through, on operands on the device; and its error or warning, "" if there is none."""
    found = OPERATIONS[name]
    on_gpu = tuple(map(glla.asarray, arrays))
    forms = forms_of(on_gpu)
    taken = []
    perform = on_device(glla.default_device(), stages.whole_of(found, forms, documents.LIMITS, variant))

    def watched(stage, values):
        taken.append(stage)
        return perform(stage, values)

    names = ("LU", "B") if name == "lu_solve" else found.operands
    values = {**OPTIONS, **dict(zip(names, on_gpu, strict=True)), **found_aside(name, arrays)}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            run_stages(found, forms, watched, values)
        except GllaError as error:
            return taken[1:], type(error).__name__
    return taken[1:], "".join(one.category.__name__ for one in warned)


def found_aside(name, arrays):
    """Operands that are no matrices."""
    aside = OPERATIONS[name].trial.aside(operations.forms(arrays)) if name == "lu_solve" else {}
    return {one: texels.reshape(-1, texels.shape[-1]) for one, texels in aside.items()}


GENERAL = ("inv", "det", "slogdet", "rcond", "plu", "lu_factor", "solve")
"""Operations of any matrix: entries may grow, and hide that it is singular."""

GIVEN = ("lu_solve", "cho_solve", "cho_solve_banded")
"""Those of factors that are given, whose solutions leave float32 sooner."""


def cases(name, n, rng):
    """Operands that plans treat differently: usual, tiny, growing, singular or indefinite, graded, huge ones."""
    a, *rest = OPERATIONS[name].example(n, rng)
    of_columns = a * 2.0 ** rng.integers(-30, 30, a.shape[-1])
    singular = a * (np.arange(a.shape[-1]) != a.shape[-1] // 2)  # however its elements are stored
    hilbert = 1 / (1 + np.add.outer(np.arange(n), np.arange(n)))
    dependent = np.vstack([b := rng.uniform(-1, 1, (n - 1, n)), b[0] + b[1]])
    graded = dependent * 2.0 ** rng.integers(-60, 60, (n, 1))
    special = [growing(n), hilbert, hidden_singular(n, rng), growing(n, -0.9), np.round(9 * dependent), graded]
    special = special if name in GENERAL else []
    huge = np.tril(a, -1) + np.triu(a) * 2.0**45 if name == "lu_solve" else a * 2.0**45  # of U alone
    scaled = [a * 2.0**-45, huge] if name in GIVEN else [a * 1e-30, a * 1e30]
    for one in (a, *scaled[:1], *special[:1], singular, of_columns, *scaled[1:], -a, *special[1:]):
        yield tuple(np.asarray(part).astype(np.float32) for part in (one, *rest))


DECIDED = [(name, None) for name, one in OPERATIONS.items() if one.settle is not None and name != "rref"]
DECIDED += [("inv_pos", "cholesky_gets_product"), ("inv3", "adjugate")]
"""Operations whose calls decide, and variants of them that decide otherwise. The page of rref shows its elimination,
which a call runs on a scaled matrix, and decides by its own figures."""


ALIKE = {"cho_factor", "inv", "lu_factor", "slogdet"}
"""Those that decide as another one does."""


def went_otherwise(browser, folder, size, most=None):
    """Calls whose plans come in another order in a page than in glla, or end otherwise, in words."""
    rng, pages = np.random.default_rng(size), []
    decided = [one for one in DECIDED if most is None or one[0] not in ALIKE]
    for name, variant in decided:
        n = max(size, 33) if name == "plu" and most is None else size  # where residuals of 30 u are left behind
        document = documents.document(name, n, variant)
        operands = [operand for operand in document["plans"][0]["operands"] if operand not in document["aside"]]
        made = [dict(zip(operands, arrays, strict=True)) for arrays in islice(cases(name, n, rng), most)]
        pages.append((document, made))
    found = in_a_browser(browser, folder / "stages.html", pages)
    for (name, variant), (_, made), ways in zip(decided, pages, found, strict=True):
        for number, (way, operands) in enumerate(zip(ways, made, strict=True)):
            label = f"{name} {variant or ''}, case {number}"
            if isinstance(way, str) and re.search(r"needs \d targets of a pass, this browser has [4-7]\.", way):
                continue  # an older browser, in software
            assert isinstance(way, dict), (label, way)
            expected, error = by_glla(name, variant, tuple(operands.values()))
            ended = "".join(re.findall(r"\w+(?:Error|Warning)", way["error"]))
            if (way["stages"], ended) != (expected, error):
                yield f"{label}: {way['stages']} {way['error']}, glla {expected} {error}; {way['because']}"
            elif not error and not way["verdict"]["ok"]:
                words = way["verdict"]["words"]
                if "float32: glla raises NonFiniteError" not in words:
                    yield f"{label}: {words}"


@pytest.mark.browser
@pytest.mark.mesa
def test_the_next_plan_comes_where_it_does_in_glla(browser, tmp_path):
    """Where entries grow, numbers are near float32's limits, pivots small."""
    assert not list(went_otherwise(browser, tmp_path, 8, 3))


@pytest.mark.browser
@pytest.mark.mesa
@pytest.mark.sweep
@pytest.mark.parametrize("size", [5, 9, 20])
def test_all_next_plans_come_where_they_do_in_glla(browser, tmp_path, size):
    """Of matrices that are singular, indefinite, badly scaled, or whose entries grow with every pivoting."""
    assert not list(went_otherwise(browser, tmp_path, size))
