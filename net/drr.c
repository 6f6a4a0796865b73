// SPDX-License-Identifier: MIT
// The choice of the data class that an output port sends next.
#include "net/drr.h"

// Returns the slot of `ready` that follows `slot`, wrapping around.
static unsigned next_slot(unsigned ready, unsigned slot)
{
    unsigned later = ready & ~((2u << slot) - 1);
    return (unsigned)__builtin_ctz(later ? later : ready);
}

unsigned drr_pick(struct network *net, uint32_t port, unsigned ready)
{
    unsigned turn = net->cold[port].turn;
    for (;;) {
        struct queue *q = port_queue(net, port, turn);
        if (!(ready >> turn & 1)) {
            q->deficit_bytes = 0;
        } else {
            uint32_t size = fifo_head(&net->pool, &q->fifo)->wire_bytes;
            if (size <= q->deficit_bytes) {
                bool last = q->fifo.count == 1;
                q->deficit_bytes = last ? 0 : q->deficit_bytes - size;
                net->cold[port].turn = turn;
                return turn;
            }
        }
        turn = next_slot(ready, turn);
        q = port_queue(net, port, turn);
        q->deficit_bytes += q->quantum_bytes;
    }
}
