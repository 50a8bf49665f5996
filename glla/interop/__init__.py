"""What others may do with arrays on the device: NumPy's protocols, and the array API."""
