"""The laboratory: demonstrations and comparisons. Needs the extra ``glla[lab]``."""
