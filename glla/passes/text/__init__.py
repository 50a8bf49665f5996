"""A plan as text: `table` for ``print``, `html` for notebooks, and `words` for `glla.explain`.

All three go through the scopes of a plan by `scopes.tree`. `outline` lays the turns of loops upon each other.
"""
