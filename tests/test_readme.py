"""The README's example is run as it stands."""

import doctest
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_examples_in_the_readme_are_true():
    failures, tried = doctest.testfile(str(README), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert tried >= 8
    assert failures == 0
