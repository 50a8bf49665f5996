"""Texts of prompts and notebooks: arrays; plans as a `table` for ``print``, as `html`, in `words` for `glla.explain`.

The last three go through the scopes of a plan by `scopes.tree`. `outline` lays the turns of loops upon each other.
"""
