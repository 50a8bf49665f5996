"""What stays on a device: `glla.Matrix`, and the values that it stands on.

Read `convert` (from what a user passes to float32 arrays), `value` (a matrix on a device, which never changes),
`arithmetic`, `blocks` and `reductions` (functions of values), `operators` (values beside arrays of the host), `array`
(the class Matrix, and `glla.asarray`), `dispatch` and `dlpack` (the protocols that Matrix speaks).
"""
