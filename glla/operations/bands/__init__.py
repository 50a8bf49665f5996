"""Banded systems."""
