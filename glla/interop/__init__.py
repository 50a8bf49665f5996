"""Interoperability of arrays on the device: NumPy's protocols, DLPack, and the array API."""
