"""The GPU as a coprocessor: calls are queued and return at once; results are read back on request.

One thread, the worker, owns a `Device`; other threads put calls into its queue and get a `Pending` for each::

    caller's threads                     worker (owns the OpenGL context)
    gpu.matmul(A, B) --> Pending C       for each call, first in, first out:
    C @ C            --> Pending D           replace the Pendings among its arguments by their values
        |                                    run it: passes are queued on the GPU, the value stays there
        |                                    set it as the Pending's result
    D.result()       <------------------ read back requested values, before the waiting calls

The queue is first in, first out, so the operands of a call are done when it runs: no call waits for another, and with
one worker there is no deadlock. Four rules ensure this:

- The worker never waits for room: in callbacks and submitted functions it may exceed the capacity.
- The worker never waits for a result: `result` raises if it is not done.
- Waiting threads are woken when the worker ends, for whatever reason: every result then has a value, failed or is
  cancelled.
- Threads that wait for room in the queue enter in the order of their arrival.

- `pending`: a call, and its future result, which knows its coprocessor as an `Owner` only.
- `engine`: runs the calls. It alone uses OpenGL; tests of the queue use another one.
- `worker`: the queue and its thread; propagation of exceptions between results.
- `handle`: accepts calls, and keeps the worker alive while a caller refers to it.
- `single`: the public class. Its methods for the functions of glla are in `methods`, whose stub `generate` writes.
- `several`: devices of one host that share a product, or right-hand sides.
- `turns`: the delay until a thread of Python gets the interpreter lock.
"""

from glla.queue.engine import Engine
from glla.queue.pending import Pending
from glla.queue.several import Coprocessors, Spread, coprocessors
from glla.queue.single import Coprocessor, coprocessor

__all__ = ["Coprocessor", "Coprocessors", "Engine", "Pending", "Spread", "coprocessor", "coprocessors"]
