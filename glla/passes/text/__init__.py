"""A plan as text: `table` is what ``print`` shows, `html` what a notebook shows, and `words` what `glla.explain` gives.

All three go through the scopes of a plan by `scopes.tree`. `outline` lays the turns of loops upon each other.
"""
