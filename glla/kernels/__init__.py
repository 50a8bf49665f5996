"""Users' shaders: `kernel` calls one on arrays; `registering` makes one a variant of an operation, by `stand_in`."""
