// SPDX-License-Identifier: MIT
// The notification point (Zhu et al., SIGCOMM 2015). It sends a CNP after cnp_delay if no window is
// open,
// and then at most one CNP per interval: a mark inside the window is remembered until its end. The
// timer runs only in that case. If flows share a window (transport.cnp_scope), the first flow
// marked in it gets the CNP at its end and the marks of the other flows are lost, as in NICs that
// limit CNPs per port or address.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "transport/roce/roce.h"
#include "transport/sender/pairs.h"

// Windows that the flows of a dimension share.
struct roce_shared {
    struct pair_table addresses; // scope "destination": (source node, destination node) -> index
    struct np_window **windows;
    uint32_t n_windows;
    size_t cap_windows;
    struct np_window *ports; // scope "port": [global port of a rank]
    bool borrowed;           // a shard uses the windows of the whole network
};

// Send a CNP. `mark` is the mark of the packet that the CNP reports; its probability is 0 if
// unknown.
static void send_cnp(struct roce_receiver *r, uint32_t psn, struct note_mark mark, ps_t now)
{
    const struct transport_dim *dim = r->base.dim;
    struct hosts *hosts = dim->hosts;
    struct packet_sizes size = roce_cnp_sizes(&dim->spec);
    struct packet cnp = {.flow = r->base.flow,
                         .dst = r->src_node,
                         .entropy = r->entropy,
                         .meta = meta_alloc(&hosts->net->meta),
                         .frame_bytes = (uint16_t)size.frame,
                         .wire_bytes = (uint16_t)size.wire,
                         .kind = PACKET_CNP,
                         .ingress = PACKET_OWN,
                         .cls = NET_CLASS_CONTROL,
                         .arrives_ps = now};
    *meta_at(&hosts->net->meta, cnp.meta) = (struct packet_meta){.seq = psn};
    meta_note_made(&hosts->net->meta, cnp.meta, now);
    struct packet_note *note = meta_note(&hosts->net->meta, cnp.meta);
    if (note && mark.probability > 0) {
        note->set |= NOTE_MARK;
        note->mark = mark;
    }
    hosts->counters.cnps_sent++;
    port_enqueue(hosts->net, r->port, &cnp, now);
}

static ps_t interval_ps(const struct roce_receiver *r)
{
    return roce_spec_const(&r->base.dim->spec)->cnp_interval_ps;
}

static void on_window_end(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct np_window *np = timer->data;
    struct roce_receiver *r = np->marked;
    np->marked = NULL;
    np->end_ps = e->now_ps + interval_ps(r);
    send_cnp(r, np->marked_psn, np->mark, e->now_ps);
}

static void window_init(const struct hosts *hosts, struct np_window *np, uint32_t rank)
{
    sim_timer_init(hosts->net->engine, &np->timer, rank, on_window_end, np);
}

static struct np_window *open_own_window(struct roce_receiver *r)
{
    const struct hosts *hosts = r->base.dim->hosts;
    r->np = memory_zeroed(1, sizeof *r->np);
    window_init(hosts, r->np, hosts->flows.ids[r->base.flow].dst);
    return r->np;
}

// Send a CNP when the notification point has made it, and its window is over.
static void notify(struct roce_receiver *r, uint32_t psn, struct note_mark mark, ps_t now)
{
    struct np_window *np = r->np;
    if (r->port_scope)
        np = &((struct roce_shared *)r->base.dim->shared)->ports[r->port];
    else if (!np && r->own_window)
        np = open_own_window(r);
    if (!np || np->marked)
        return;
    ps_t due_ps = ps_longer(np->end_ps, now + roce_spec_const(&r->base.dim->spec)->cnp_delay_ps);
    if (now < due_ps) {
        np->marked = r;
        np->marked_psn = psn;
        np->mark = mark;
        sim_timer_start(r->base.dim->hosts->net->engine, &np->timer, due_ps);
        return;
    }
    np->end_ps = now + interval_ps(r);
    send_cnp(r, psn, mark, now);
}

void roce_notify_mark(struct roce_receiver *r, const struct packet *marked, uint32_t psn, ps_t now)
{
    const struct packet_note *note = meta_note(&r->base.dim->hosts->net->meta, marked->meta);
    struct note_mark mark = {0}; // a copy, because the memory of notes moves when it grows
    if (note && note->set & NOTE_MARK)
        mark = note->mark;
    notify(r, psn, mark, now);
}

void roce_notify_nak(struct roce_receiver *r, uint32_t psn, ps_t now)
{
    if (roce_spec_const(&r->base.dim->spec)->nak_cnp == NAK_CNP_TRUE)
        notify(r, psn, (struct note_mark){0}, now);
}

static struct roce_shared *shared_of(struct transport_dim *dim)
{
    if (!dim->shared)
        dim->shared = memory_zeroed(1, sizeof(struct roce_shared));
    return dim->shared;
}

// Returns the window of all flows from one node to another.
static struct np_window *window_of_address(struct transport_dim *dim, const struct flow_id *id)
{
    struct roce_shared *shared = shared_of(dim);
    struct pair *pair = pairs_get(&shared->addresses, id->src_node, id->dst_node, 0, 0);
    if (pair->flow == FLOW_NIL) {
        if (shared->n_windows == shared->cap_windows)
            shared->windows =
                memory_grow(shared->windows, &shared->cap_windows, sizeof(struct np_window *));
        pair->flow = shared->n_windows++;
        shared->windows[pair->flow] = memory_zeroed(1, sizeof(struct np_window));
        window_init(dim->hosts, shared->windows[pair->flow], id->dst);
    }
    return shared->windows[pair->flow];
}

static void open_port_windows(struct transport_dim *dim)
{
    struct roce_shared *shared = shared_of(dim);
    const struct network *net = dim->hosts->net;
    const uint32_t *first = net->first_port;
    shared->ports = memory_zeroed(first[net->n_ranks], sizeof *shared->ports);
    for (uint32_t rank = 0; rank < net->n_ranks; rank++)
        for (uint32_t p = first[rank]; p < first[rank + 1]; p++)
            window_init(dim->hosts, &shared->ports[p], rank);
}

void roce_notify_open(struct roce_receiver *r)
{
    struct hosts *hosts = r->base.dim->hosts;
    const struct flow_id *id = &hosts->flows.ids[r->base.flow];
    struct transport_dim *dim = hosts_dim(hosts, id->dim, id->transport);
    const struct roce_spec *spec = roce_spec_const(&dim->spec);
    if (!(dim->cc->needs & CC_NEEDS_CNP) || spec->cnp != CNP_NP_TIMER)
        return;
    if (spec->cnp_scope == CNP_SCOPE_PORT) {
        r->port_scope = true;
    } else if (spec->cnp_scope == CNP_SCOPE_DESTINATION) {
        r->np = window_of_address(dim, id);
    } else {
        r->own_window = true;
    }
}

void roce_notify_open_dim(struct transport_dim *dim)
{
    const struct roce_spec *spec = roce_spec_const(&dim->spec);
    if (dim->cc->needs & CC_NEEDS_CNP && spec->cnp == CNP_NP_TIMER &&
        spec->cnp_scope == CNP_SCOPE_PORT)
        open_port_windows(dim);
}

void roce_notify_divide_dim(struct transport_dim *part, const struct transport_dim *whole)
{
    if (!whole->shared)
        return;
    part->shared = NULL;
    shared_of(part)->ports = ((const struct roce_shared *)whole->shared)->ports;
    shared_of(part)->borrowed = true;
}

void roce_notify_restart(struct roce_receiver *r)
{
    if (!r->own_window || !r->np)
        return;
    r->np->end_ps = 0;
    r->np->marked = NULL;
    sim_timer_stop(&r->np->timer);
}

void roce_notify_close(struct roce_receiver *r)
{
    if (r->own_window)
        free(r->np);
}

void roce_notify_close_dim(struct transport_dim *dim)
{
    struct roce_shared *shared = dim->shared;
    if (!shared)
        return;
    for (uint32_t i = 0; i < shared->n_windows; i++)
        free(shared->windows[i]);
    free(shared->windows);
    pairs_free(&shared->addresses);
    if (!shared->borrowed)
        free(shared->ports);
    free(shared);
}
