"""Plans for arrays of any number of dimensions in the linear layout, four elements to a texel in C order.

Every builder is a pure function of views, shapes and the largest side of a texture; results are always whole and in C
order, with zeros in the spare channels of the last texel. Read `view` first, then `elementwise`, `fold`, `move`,
`scan`, `create`, `order`, `product`.
"""

from glla.operations.linear import create, elementwise, fold, move, order, product, scan
from glla.operations.linear.view import View

__all__ = ["View", "create", "elementwise", "fold", "move", "order", "product", "scan"]
