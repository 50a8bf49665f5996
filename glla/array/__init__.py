"""What stays on a device: `glla.Array`, and the values that it stands on.

Read `convert` (from what a user passes to arrays that a device can take), `value` (an array on a device, which never
changes), `lying` (from one layout to another), `arithmetic`, `blocks`, `shaping` and `reductions` (functions of
values), `operators` (values beside arrays of the host), `array` (the class Array, and `glla.asarray`), `dispatch`,
`dlpack` and `html` (the protocols that Array speaks), `slots` and `loops` (operands of plans and loops that users run).
"""
