"""The GPU as a coprocessor: calls are queued and return at once, results are fetched when they are wanted.

One thread, the worker, owns a `Device`; everything else only puts calls into its queue and gets a `Pending` for each::

    caller's threads                     worker (owns the OpenGL context)
    gpu.matmul(A, B) --> Pending C       for each call, first in, first out:
    C @ C            --> Pending D           put values in place of the Pendings among its arguments
        |                                    run it: passes are queued on the GPU, the value stays there
        |                                    give it to its Pending
    D.result()       <------------------ read back what is asked for, ahead of the calls that still wait

The queue is first in, first out, so when a call runs, what it needs has been run: no call waits for another, and with
one worker there is nothing to dead-lock on. Four rules keep it so:

- The worker never waits for room: where it enqueues (in a callback, in a submitted function), the capacity does not
  hold.
- The worker never waits for a result: asked for one that is not there, it raises.
- Whoever waits is woken when the worker ends, however it ends: every result is then given, failed or cancelled.
- Threads that wait for room in the queue are let in in the order in which they came.

- `pending`: a call, and its future result, which knows its coprocessor as an `Owner` only.
- `engine`: what does the calls. It alone knows OpenGL; tests of the queue use another one.
- `worker`: the queue and its thread; `failures`: how an exception gets from one result to the next.
- `handle`: lets calls in, and keeps the worker going while somebody may ask it for something.
- `single`: what a user calls. The methods for the functions of glla stand in `methods`, whose stub `generate` writes.
- `several`: devices of one host that share a product, or right-hand sides.
- `turns`: how soon a thread of Python gets its turn.
"""

from glla.queue.engine import Engine
from glla.queue.pending import Pending
from glla.queue.several import Coprocessors, Spread, coprocessors
from glla.queue.single import Coprocessor, coprocessor

__all__ = ["Coprocessor", "Coprocessors", "Engine", "Pending", "Spread", "coprocessor", "coprocessors"]
