// SPDX-License-Identifier: MIT
// PFC deadlock: paused ports that wait for each other in a cycle.
//
// The search considers each class separately. A paused port P towards switch B waits for output Q
// of B if Q is paused too and holds a packet that arrived on P's link: B keeps P paused until such
// packets leave. A cycle of such dependencies never ends by itself. The search runs only after a
// run has stalled, so it does not report a cycle that would have resolved.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "net/crossing.h"
#include "sim/explain/explain_internal.h"

enum { UNSEEN, ON_PATH, DONE };

struct search {
    const struct fabric *fabric;
    unsigned slot;  // index of the class
    uint8_t *state; // [port] visited, or on the current path
    uint32_t *path; // ports visited since the start of the search
    uint32_t n;
};

static bool is_stuck(const struct network *net, uint32_t port, unsigned slot)
{
    return net->ports[port].paused >> slot & 1 && net->ports[port].waiting >> slot & 1;
}

// True if the port's queue holds a packet that arrived at `ingress`.
static bool holds_from(const struct network *net, uint32_t port, unsigned slot, uint32_t ingress)
{
    const struct queue *q = port_queue(net, port, slot);
    uint32_t chunk = q->fifo.head, at = q->fifo.head_at;
    for (uint32_t i = 0; i < q->fifo.count; i++, at++) {
        if (at == FIFO_CHUNK) {
            chunk = net->pool.next[chunk];
            at = 0;
        }
        if (net->pool.packets[chunk * FIFO_CHUNK + at].ingress == ingress)
            return true;
    }
    return false;
}

// Follow the dependencies of `port`. Returns true if they form a cycle, which is path[first..n).
static bool follow(struct search *s, uint32_t port, uint32_t *first)
{
    const struct network *net = &s->fabric->net;
    const struct switch_node *b = switch_of_port(&s->fabric->switches, net->cold[port].peer);
    s->state[port] = ON_PATH;
    s->path[s->n++] = port;
    uint32_t ingress = b ? net->cold[port].peer - b->first_port : 0;
    for (uint32_t q = b ? b->first_port : 0; b && q < b->first_port + b->n_ports; q++) {
        if (s->state[q] == DONE || !is_stuck(net, q, s->slot) ||
            !holds_from(network_at_port(net, q), q, s->slot, ingress))
            continue;
        if (s->state[q] == ON_PATH) {
            for (*first = 0; s->path[*first] != q;)
                ++*first;
            return true;
        }
        if (follow(s, q, first))
            return true;
    }
    s->state[port] = DONE;
    s->n--;
    return false;
}

static void cycle_add(struct result *r, const struct fabric *fabric, uint32_t port)
{
    char name[2 * GRAPH_NAME];
    r->deadlock = memory_resize(r->deadlock, r->n_deadlock + 1, sizeof *r->deadlock);
    r->deadlock[r->n_deadlock++] = memory_text(graph_port_name(&fabric->graph, port, name));
}

void find_deadlock(const struct fabric *fabric, struct result *r)
{
    uint32_t n = fabric->net.n_ports, first = 0;
    struct search s = {.fabric = fabric,
                       .state = memory_zeroed(n, sizeof *s.state),
                       .path = memory_zeroed(n, sizeof *s.path)};
    bool found = false;
    for (s.slot = fabric->net.data_slot; s.slot < fabric->net.n_slots && !found; s.slot++) {
        memset(s.state, UNSEEN, n);
        for (uint32_t p = 0; p < n && !found; p++)
            if (s.state[p] == UNSEEN && is_stuck(&fabric->net, p, s.slot))
                found = follow(&s, p, &first);
    }
    for (uint32_t i = first; found && i < s.n; i++)
        cycle_add(r, fabric, s.path[i]);
    free(s.state);
    free(s.path);
}
