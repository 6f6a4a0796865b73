// SPDX-License-Identifier: MIT
#include "transport/nic/stack.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "transport/host.h"

enum { STACK_SENDS, STACK_RECEIVES, STACK_DIRECTIONS };

struct stack_flow { // a flow at its receiver
    struct core_task task;
    struct stack *stack;
    struct core_thread *thread;
    struct fifo waiting;
    uint32_t node;
    uint32_t batch; // packets that the thread handles
    bool busy;
};

struct stack {
    struct hosts *hosts;
    struct host_spec spec;
    struct cores *cores;
    struct node_ops hosts_ops; // the hosts' operations
    struct stack_flow **flows; // [flow]
    uint32_t n_flows;
    struct core_thread **shared[STACK_DIRECTIONS]; // [rank * threads + thread]; NULL = none yet
    struct core_thread **own; // threads with one connection each, and shared ones, for stack_free()
    size_t n_own, cap_own;
};

/* ---- threads ---- */

static struct core_thread *thread_new(struct stack *k, uint32_t rank)
{
    struct core_thread *t = memory_zeroed(1, sizeof *t);
    core_thread_init(t, k->cores, rank);
    if (k->n_own == k->cap_own)
        k->own = memory_grow(k->own, &k->cap_own, sizeof *k->own);
    return k->own[k->n_own++] = t;
}

// Connections of a rank take its threads in turn, by the number of the flow.
static struct core_thread *thread_of(struct stack *k, unsigned direction, uint32_t rank,
                                     uint32_t turn)
{
    uint32_t threads = (uint32_t)k->spec.threads;
    if (threads == 0)
        return thread_new(k, rank);
    struct core_thread **at = &k->shared[direction][rank * threads + turn % threads];
    if (*at == NULL)
        *at = thread_new(k, rank);
    return *at;
}

void stack_run(struct hosts *hosts, struct core_thread *t, struct core_task *task, ps_t now)
{
    struct engine *engine = hosts->net->engine;
    engine_lock(engine); // the task may change the speed of computations, which shards share
    core_run(t, task, 0, now);
    engine_unlock(engine);
}

/* ---- receiving ---- */

static uint32_t payload_of(const struct stack *k, const struct packet *p)
{
    return meta_at(&k->hosts->net->meta, p->meta)->payload_bytes;
}

// Take the packets at the head of the queue, at most a segment, and return the time for them.
static ps_t begin(struct core_task *task, ps_t now)
{
    struct stack_flow *f = (struct stack_flow *)task;
    const struct stack *k = f->stack;
    const struct host_stack *cost = &k->spec.receive;
    struct fifo_walk walk = fifo_walk(&f->waiting);
    uint64_t bytes = 0;
    (void)now;
    for (f->batch = 0; f->batch < f->waiting.count; f->batch++) {
        uint32_t payload = payload_of(k, fifo_next(&k->hosts->net->pool, &walk));
        if (f->batch > 0 && bytes + payload > cost->segment_bytes)
            break;
        bytes += payload;
    }
    ps_t copy_ps = cost->rate_bps > 0 ? serialization_ps(bytes, cost->rate_bps) : 0;
    return copy_ps + cost->call_ps + (ps_t)f->batch * cost->packet_ps;
}

static void handle(struct stack_flow *f, ps_t now)
{
    struct stack *k = f->stack;
    struct network *net = k->hosts->net;
    struct packet p = *fifo_head(&net->pool, &f->waiting);
    fifo_drop_head(&net->pool, &f->waiting);
    if (p.flags & (PACKET_LAST | PACKET_RETX) && now > p.arrives_ps)
        meta_add_wait(&net->meta, p.meta, META_WAIT_STACK | node_port(net, f->node, p.ingress),
                      now - p.arrives_ps);
    k->hosts_ops.arrive(k->hosts_ops.ctx, f->node, p.ingress, &p, now);
}

static void handled(struct core_task *task, ps_t now)
{
    struct stack_flow *f = (struct stack_flow *)task;
    uint32_t n = f->batch;
    f->busy = false;
    while (n-- > 0)
        handle(f, now);
    if (f->waiting.count > 0 && !f->busy) {
        f->busy = true;
        stack_run(f->stack->hosts, f->thread, &f->task, now);
    }
}

static struct stack_flow *flow_of(struct stack *k, const struct packet *p, uint32_t node)
{
    if (p->flow >= k->n_flows) {
        uint32_t n = p->flow + 1 > 2 * k->n_flows ? p->flow + 1 : 2 * k->n_flows;
        k->flows = memory_resize(k->flows, n, sizeof(struct stack_flow *));
        memset(k->flows + k->n_flows, 0, (n - k->n_flows) * sizeof(struct stack_flow *));
        k->n_flows = n;
    }
    if (k->flows[p->flow] == NULL) {
        const struct flow_id *id = &k->hosts->flows.ids[p->flow];
        struct stack_flow *f = k->flows[p->flow] = memory_zeroed(1, sizeof *f);
        *f = (struct stack_flow){.task = {.begin = begin, .done = handled},
                                 .stack = k,
                                 .waiting = fifo_empty(),
                                 .node = node};
        f->thread = thread_of(k, STACK_RECEIVES, id->dst, id->src + id->number);
    }
    return k->flows[p->flow];
}

// Returns true if threads of the host handle the packet, that is data of a transport in the kernel.
static bool is_handled(const struct stack *k, const struct packet *p)
{
    if (p->kind != PACKET_DATA || !host_stack_costs(&k->spec.receive))
        return false;
    const struct flow_id *id = &k->hosts->flows.ids[p->flow];
    return hosts_dim(k->hosts, id->dim, id->transport)->ops->by_host && payload_of(k, p) > 0;
}

static void arrive(void *ctx, uint32_t node, uint32_t local, struct packet *p, ps_t now)
{
    struct stack *k = ctx;
    if (!is_handled(k, p)) {
        k->hosts_ops.arrive(k->hosts_ops.ctx, node, local, p, now);
        return;
    }
    struct stack_flow *f = flow_of(k, p, node);
    p->ingress = (uint16_t)local;
    p->arrives_ps = now;
    *fifo_push(&k->hosts->net->pool, &f->waiting) = *p;
    if (f->busy)
        return;
    f->busy = true;
    stack_run(k->hosts, f->thread, &f->task, now);
}

/* The other operations of the hosts, with their context. */

static bool pull(void *ctx, uint32_t node, uint32_t port, struct packet *p, ps_t now)
{
    const struct stack *k = ctx;
    return k->hosts_ops.pull(k->hosts_ops.ctx, node, port, p, now);
}

static ps_t next_pull(void *ctx, uint32_t port, ps_t now)
{
    const struct stack *k = ctx;
    return k->hosts_ops.next_pull(k->hosts_ops.ctx, port, now);
}

static void pause_changed(void *ctx, uint32_t port, unsigned cls, bool paused, ps_t now)
{
    const struct stack *k = ctx;
    k->hosts_ops.pause_changed(k->hosts_ops.ctx, port, cls, paused, now);
}

static uint32_t hint(void *ctx, uint32_t node, uint32_t local, struct packet *p)
{
    const struct stack *k = ctx;
    return k->hosts_ops.hint(k->hosts_ops.ctx, node, local, p);
}

/* ---- sending ---- */

bool stack_sends(const struct hosts *hosts)
{
    return hosts->stack != NULL && host_stack_costs(&hosts->stack->spec.send);
}

struct core_thread *stack_send_thread(struct hosts *hosts, uint32_t flow)
{
    const struct flow_id *id = &hosts->flows.ids[flow];
    return thread_of(hosts->stack, STACK_SENDS, id->src, id->number);
}

ps_t stack_send_ps(const struct hosts *hosts, uint64_t bytes, uint32_t packet_bytes)
{
    return host_stack_ps(&hosts->stack->spec.send, bytes, packet_bytes);
}

uint64_t stack_send_segment(const struct hosts *hosts, uint32_t packet_bytes)
{
    uint64_t bytes = hosts->stack->spec.send.segment_bytes / packet_bytes * packet_bytes;
    return bytes > 0 ? bytes : packet_bytes;
}

/* ---- life ---- */

void stack_attach(struct hosts *hosts, const struct host_spec *spec, struct cores *cores)
{
    struct stack *k = hosts->stack = memory_zeroed(1, sizeof *k);
    struct node_ops *ops = &hosts->net->ops[NET_RANK];
    k->hosts = hosts;
    k->spec = *spec;
    k->cores = cores;
    k->hosts_ops = *ops;
    for (unsigned d = 0; d < STACK_DIRECTIONS && spec->threads > 0; d++)
        k->shared[d] = memory_zeroed((size_t)hosts->net->n_ranks * spec->threads,
                                     sizeof(struct core_thread *));
    if (host_stack_costs(&spec->receive))
        *ops = (struct node_ops){.arrive = arrive,
                                 .pull = pull,
                                 .next_pull = next_pull,
                                 .pause_changed = pause_changed,
                                 .hint = hint,
                                 .ctx = k};
}

// All shards use one array of the threads that connections of a rank share. Each end of a flow
// belongs to one shard.
void *stack_divide(struct hosts *shard, void *below)
{
    if (shard->stack == NULL)
        return below;
    struct stack *k = memory_zeroed(1, sizeof *k);
    *k = *shard->stack;
    k->hosts = shard;
    k->hosts_ops.ctx = below;
    shard->stack = k;
    return host_stack_costs(&k->spec.receive) ? k : below;
}

void stack_shard_free(struct hosts *shard)
{
    struct stack *k = shard->stack;
    if (k == NULL)
        return;
    for (size_t i = 0; i < k->n_own; i++) {
        core_thread_end(k->own[i]);
        free(k->own[i]);
    }
    for (uint32_t i = 0; i < k->n_flows; i++)
        free(k->flows[i]);
    free(k->flows);
    free(k->own);
    free(k);
    shard->stack = NULL;
}

void stack_free(struct hosts *hosts)
{
    for (unsigned d = 0; hosts->stack != NULL && d < STACK_DIRECTIONS; d++)
        free(hosts->stack->shared[d]);
    stack_shard_free(hosts);
}
