// SPDX-License-Identifier: MIT
#include "transport/nic/stack.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "transport/host.h"
#include "transport/nic/stack_threads.h"

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
    struct node_ops hosts_ops; // the hosts' operations
    struct stack_flow **flows; // [flow]
    uint32_t n_flows;
    struct stack_threads threads;
};

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

// Take the packets at the head of the queue, at most what a call takes, and return the time for
// them.
static ps_t begin(struct core_task *task, ps_t now)
{
    struct stack_flow *f = (struct stack_flow *)task;
    const struct stack *k = f->stack;
    const struct host_stack *cost = &k->spec.receive;
    struct fifo_walk walk = fifo_walk(&f->waiting);
    uint64_t bytes = 0, segment_bytes = 0, segments = 0, most = host_call_bytes(cost);
    (void)now;
    for (f->batch = 0; f->batch < f->waiting.count; f->batch++) {
        uint32_t payload = payload_of(k, fifo_next(&k->hosts->net->pool, &walk));
        if (f->batch > 0 && bytes + payload > most)
            break;
        if (f->batch == 0 || segment_bytes + payload > cost->segment_bytes) {
            segments++;
            segment_bytes = 0;
        }
        segment_bytes += payload;
        bytes += payload;
    }
    return stack_thread_ps(f->thread, host_stack_ps(cost, bytes, f->batch, segments));
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

// Connections from different sources to a rank have numbers of their own, so its threads would
// serve the first connections of all of them.
static uint32_t turn(const struct stack *k, const struct flow_id *id)
{
    return k->spec.threads_of == HOST_THREADS_OF_RANK ? id->src + id->number : id->number;
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
        f->thread = stack_thread_for(
            &k->threads, (struct stack_use){STACK_RECEIVES, id->dst, id->src, turn(k, id)});
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
    return stack_thread_for(&hosts->stack->threads,
                            (struct stack_use){STACK_SENDS, id->src, id->dst, id->number});
}

// `most` bytes in whole packets, and at least one.
static uint64_t whole_packets(uint64_t most, uint32_t packet_bytes)
{
    uint64_t bytes = most / packet_bytes * packet_bytes;
    return bytes > 0 ? bytes : packet_bytes;
}

ps_t stack_send_ps(const struct hosts *hosts, const struct core_thread *thread, uint64_t bytes,
                   uint64_t calls, uint32_t packet_bytes)
{
    const struct host_stack *cost = &hosts->stack->spec.send;
    uint64_t segment = whole_packets(cost->segment_bytes, packet_bytes),
             packets = (bytes + packet_bytes - 1) / packet_bytes,
             segments = (bytes + segment - 1) / segment;
    ps_t takes_ps = host_stack_ps(cost, bytes, packets, segments);
    return stack_thread_ps(thread, takes_ps + (ps_t)(calls - 1) * cost->call_ps);
}

uint64_t stack_send_call(const struct hosts *hosts, uint32_t packet_bytes)
{
    return whole_packets(host_call_bytes(&hosts->stack->spec.send), packet_bytes);
}

/* ---- life ---- */

void stack_attach(struct hosts *hosts, const struct host_spec *spec, struct cores *cores)
{
    struct stack *k = hosts->stack = memory_zeroed(1, sizeof *k);
    struct node_ops *ops = &hosts->net->ops[NET_RANK];
    k->hosts = hosts;
    k->spec = *spec;
    k->threads = (struct stack_threads){
        .spec = &k->spec,
        .cores = cores,
        .seed = hosts->net->engine->seed,
        .shared = memory_zeroed(hosts->net->n_ranks, sizeof *k->threads.shared)};
    k->hosts_ops = *ops;
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
    k->threads.spec = &k->spec;
    k->hosts_ops.ctx = below;
    shard->stack = k;
    return host_stack_costs(&k->spec.receive) ? k : below;
}

void stack_shard_free(struct hosts *shard)
{
    struct stack *k = shard->stack;
    if (k == NULL)
        return;
    stack_threads_end(&k->threads);
    for (uint32_t i = 0; i < k->n_flows; i++)
        free(k->flows[i]);
    free(k->flows);
    free(k);
    shard->stack = NULL;
}

void stack_free(struct hosts *hosts)
{
    for (uint32_t rank = 0; hosts->stack != NULL && rank < hosts->net->n_ranks; rank++)
        free(hosts->stack->threads.shared[rank].slots);
    if (hosts->stack != NULL)
        free(hosts->stack->threads.shared);
    stack_shard_free(hosts);
}
