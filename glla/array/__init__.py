"""Arrays on a device: `glla.Array`, and the immutable values behind it.

Read `convert` (from user arguments to arrays that a device can take), `value` (an array on a device, which never
changes), `layouts` (conversion between the layouts), `arithmetic`, `blocks`, `shaping` and `reductions` (functions of
values), `operators` (values combined with arrays of the host), `array` (the class Array, and `glla.asarray`),
`dispatch`, `dlpack` and `html` (the protocols of Array), `slots` and `loops` (operands of users' plans and loops).
"""
