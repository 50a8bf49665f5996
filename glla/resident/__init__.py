"""What `glla.Matrix` stands on: values of matrices on a device, which never change, and functions of them."""

from glla.resident.value import Resident

__all__ = ["Resident"]
