// SPDX-License-Identifier: MIT
// Libraries, their groups, and the runs of operations: all blocks and connections of a run are made
// when its first member begins.
#include <stdlib.h>
#include <string.h>

#include "collective/executor/executor_internal.h"
#include "engine/base/memory.h"

/* ---- file blocks ---- */

// The blocks of an algorithm that a file gives (collective/nccl/xml/operation.h).

static void make_block(struct executor_run *run, uint32_t index)
{
    const struct xml_block *x = &run->xml.algorithm->blocks[index];
    struct block *b = &run->blocks[index];
    b->run = run;
    b->plan = (struct nccl_block){.channel = x->channel,
                                  .rank = x->gpu,
                                  .at = x->id,
                                  .n_from = x->receives_from != XML_NONE,
                                  .n_to = x->sends_to != XML_NONE,
                                  .from = {x->receive},
                                  .to = {x->send},
                                  .length = xml_block_length(&run->xml, index)};
    b->from = &run->peers[2 * (size_t)index];
    b->to = b->from + 1;
}

// Make the blocks of a run, without their connections.
static void file_blocks_new(struct executor_run *run)
{
    const struct executor_group *g = run->group;
    const struct xml_algorithm *a = g->spec->xml;
    xml_operation_init(&run->xml, a, &g->comm->layout.cluster, g->spec->xml_piece_bytes,
                       run->request.bytes);
    run->protocol = a->protocol;
    run->n_blocks = a->n_blocks;
    run->blocks = memory_zeroed(a->n_blocks + 1, sizeof *run->blocks);
    run->peers = memory_zeroed(2 * (size_t)a->n_blocks + 1, sizeof(struct connection *));
    for (uint32_t m = 0; m < g->n; m++) {
        run->members[m].first_block = a->gpus[m].first_block;
        run->members[m].n_blocks = run->members[m].blocks_left = a->gpus[m].n_blocks;
    }
    for (uint32_t i = 0; i < a->n_blocks; i++)
        make_block(run, i);
}

// Returns the bytes of all messages of an operation on `bytes`, by the algorithm of the file.
static uint64_t file_bytes(const struct executor_group *g, uint64_t bytes)
{
    struct xml_operation o;
    xml_operation_init(&o, g->spec->xml, &g->comm->layout.cluster, g->spec->xml_piece_bytes, bytes);
    uint64_t sum = xml_operation_bytes(&o);
    xml_operation_free(&o);
    return sum;
}

/* ---- libraries and groups ---- */

struct executor *executor_new(const struct executor_env *env)
{
    struct executor *l = memory_zeroed(1, sizeof *l);
    l->env = *env;
    l->clears = env->transfer->phase == NULL;
    return l;
}

void executor_free(struct executor *l)
{
    if (l == NULL)
        return;
    while (l->wirings != NULL) {
        struct wiring *w = l->wirings;
        l->wirings = w->next;
        nccl_known_end(&w->known);
        free(w);
    }
    proxies_free(l);
    if (l->env.mpi != NULL)
        l->env.mpi->end(l);
    free(l->connections);
    slots_free(&l->numbers);
    free(l);
}

// The communicator of the members, or NULL with one sentence in `error`.
static const struct nccl_communicator *communicator_of(struct executor *l,
                                                       const struct executor_spec *spec,
                                                       const struct nccl_member *members,
                                                       uint32_t n, char *error, size_t error_bytes)
{
    const struct nccl_communicator *comm = nccl_known_find(spec->known, members, n);
    if (comm != NULL)
        return comm;
    struct wiring *w = l->wirings;
    while (w != NULL && w->spec != spec)
        w = w->next;
    if (w == NULL) {
        w = memory_zeroed(1, sizeof *w);
        *w = (struct wiring){.spec = spec, .next = l->wirings};
        l->wirings = w;
    }
    return nccl_known_make(&w->known, spec->machine, &spec->settings, members, n, error,
                           error_bytes);
}

struct executor_group *executor_group_new(struct executor *l, const struct executor_spec *spec,
                                          const uint32_t *ranks, uint32_t n, uint32_t index,
                                          char *error, size_t error_bytes)
{
    struct executor_group *g = memory_zeroed(1, sizeof *g);
    *g = (struct executor_group){.library = l, .spec = spec, .n = n, .index = index};
    g->ranks = memory_zeroed(n, sizeof *g->ranks);
    memcpy(g->ranks, ranks, n * sizeof *ranks);
    // MPI runs on the CPUs and needs no channels between GPUs.
    if (spec->mpi != NULL)
        return g;
    struct nccl_member *members = nccl_members_of(ranks, n, spec->gpus);
    g->comm = communicator_of(l, spec, members, n, error, error_bytes);
    free(members);
    if (g->comm != NULL)
        return g;
    free(g->ranks);
    free(g);
    return NULL;
}

static void run_free(struct executor_run *run)
{
    for (size_t b = 0; b < run->n_blocks; b++) {
        for (uint32_t i = 0; i < run->blocks[b].plan.n_to; i++)
            connection_free(run->blocks[b].to[i]);
        block_free(&run->blocks[b]);
    }
    exchanges_free(run);
    if (run->source == RUN_MPI)
        run_env(run)->mpi->free(run);
    if (run->source == RUN_XML)
        xml_operation_free(&run->xml);
    for (uint32_t m = 0; m < run->group->n; m++)
        sim_timer_end(run_env(run)->engine, &run->members[m].timer);
    free(run->peers);
    free(run->blocks);
    free(run->members);
    free(run);
}

void executor_group_free(struct executor_group *g)
{
    if (g == NULL)
        return;
    while (g->runs != NULL) {
        struct executor_run *run = g->runs;
        g->runs = run->next;
        run_free(run);
    }
    free(g->ranks);
    free(g);
}

void run_release(struct executor_run *run)
{
    // `open` counts what still refers to the run: messages on their way, and callbacks.
    if (run->members_left > 0 || run->open > 0)
        return;
    struct executor_run **at = &run->group->runs;
    while (*at != run)
        at = &(*at)->next;
    *at = run->next;
    run_free(run);
}

/* ---- blocks and connections of an operation ---- */

static uint32_t channels_of(const struct executor_run *run)
{
    return run->operation.choice.split.channels;
}

// The blocks of a member on a channel, `*n` of them.
static struct block *blocks_on(const struct executor_run *run, uint32_t member, uint32_t channel,
                               uint32_t *n)
{
    const struct member *m = &run->members[member];
    *n = m->n_blocks / channels_of(run);
    return &run->blocks[m->first_block + (size_t)channel * *n];
}

static void make_blocks(struct executor_run *run)
{
    uint32_t n = run->group->n, channels = channels_of(run);
    struct nccl_block plans[NCCL_BLOCKS];
    size_t blocks = 0, peers = 0;
    for (uint32_t m = 0; m < n; m++) {
        run->members[m].first_block = (uint32_t)blocks;
        for (uint32_t c = 0; c < channels; c++)
            blocks += nccl_blocks(&run->operation, c, m, plans);
        run->members[m].n_blocks = run->members[m].blocks_left =
            (uint32_t)blocks - run->members[m].first_block;
    }
    run->blocks = memory_zeroed(blocks, sizeof *run->blocks);
    for (uint32_t m = 0; m < n; m++)
        for (uint32_t c = 0; c < channels; c++) {
            uint32_t k = nccl_blocks(&run->operation, c, m, plans);
            for (uint32_t i = 0; i < k; i++, run->n_blocks++) {
                struct block *b = &run->blocks[run->n_blocks];
                b->plan = plans[i];
                b->run = run;
                peers += b->plan.n_from + b->plan.n_to;
            }
        }
    run->peers = memory_zeroed(peers, sizeof(struct connection *));
    struct connection **at = run->peers;
    for (size_t i = 0; i < blocks; i++) {
        run->blocks[i].from = at;
        run->blocks[i].to = at + run->blocks[i].plan.n_from;
        at += run->blocks[i].plan.n_from + run->blocks[i].plan.n_to;
    }
}

// The role of the block that receives from a block.
static enum nccl_role role_of_peer(const struct nccl_block *b)
{
    if (b->role == NCCL_ROLE_NVLS_MEMBER)
        return NCCL_ROLE_NVLS_READ;
    return b->role == NCCL_ROLE_NVLS_WRITE ? NCCL_ROLE_NVLS_MEMBER : (enum nccl_role)b->role;
}

// Which sender of the peer's block the block is.
static uint32_t sender_index(const struct nccl_block *peer, const struct nccl_block *b, uint32_t k)
{
    uint32_t i = 0;
    if (b->role == NCCL_ROLE_PAT)
        return k;
    while (i < peer->n_from && peer->from[i] != b->rank)
        i++;
    return i;
}

static void connect_block(struct block *b)
{
    struct executor_run *run = b->run;
    uint32_t slots = nccl_primitive(&run->operation, &b->plan, 0).slots;
    for (uint32_t k = 0; k < b->plan.n_to; k++) {
        uint32_t n;
        struct block *peer = blocks_on(run, b->plan.to[k], b->plan.channel, &n);
        while (peer->plan.role != role_of_peer(&b->plan))
            peer++;
        uint32_t i = sender_index(&peer->plan, &b->plan, k);
        uint64_t messages = nccl_block_messages(&run->operation, &peer->plan, i);
        b->to[k] = peer->from[i] =
            connection_new(run, b->plan.channel, b->plan.rank, b->plan.to[k], slots, messages);
    }
}

// The block that receives what block `i` of a file sends.
static void connect_file_block(struct executor_run *run, uint32_t i)
{
    const struct xml_block *x = &run->xml.algorithm->blocks[i];
    if (x->sends_to != XML_NONE)
        *run->blocks[i].to = *run->blocks[x->sends_to].from =
            connection_new(run, x->channel, x->gpu, x->send, run->xml.chunking.slice_steps,
                           xml_block_messages(&run->xml, x->sends_to));
}

/* ---- runs ---- */

struct executor_run *executor_run_new(struct executor_group *g,
                                      const struct executor_request *request, void *run_ctx)
{
    struct executor_run *run = memory_zeroed(1, sizeof *run);
    *run = (struct executor_run){.group = g,
                                 .ctx = run_ctx,
                                 .request = *request,
                                 .protocol = NCCL_SIMPLE,
                                 .members_left = g->n};
    if (g->spec->mpi != NULL)
        run->source = RUN_MPI;
    else if (g->spec->xml != NULL)
        run->source = RUN_XML;
    else
        run->source = request->exchanges ? RUN_EXCHANGES : RUN_OPERATION;
    if (run->source == RUN_OPERATION &&
        !nccl_operation_init(&run->operation, g->comm, request->function, request->bytes,
                             request->root)) {
        free(run);
        return NULL;
    }
    run->members = memory_zeroed(g->n, sizeof *run->members);
    if (run->source == RUN_MPI) {
        run_env(run)->mpi->new (run);
    } else if (run->source == RUN_XML) {
        file_blocks_new(run);
        for (uint32_t i = 0; i < run->n_blocks; i++)
            connect_file_block(run, i);
    } else if (run->source == RUN_EXCHANGES) {
        exchanges_new(run);
    } else {
        run->protocol = run->operation.choice.protocol;
        make_blocks(run);
        for (size_t b = 0; b < run->n_blocks; b++)
            connect_block(&run->blocks[b]);
    }
    run->next = g->runs;
    g->runs = run;
    return run;
}

static bool is_limited(const struct nccl_settings *s)
{
    return s->algorithms != NCCL_ANY_ALGORITHM || s->protocols != NCCL_ANY_PROTOCOL;
}

struct executor_choice executor_choice(const struct executor_run *run)
{
    const struct nccl_settings *settings = &run->group->spec->settings;
    const struct nccl_operation *o = &run->operation;
    const struct xml_operation *x = &run->xml;
    switch (run->source) {
    case RUN_MPI:
        return run_env(run)->mpi->choice(run);
    case RUN_EXCHANGES:
        return (struct executor_choice){.exchanges = true,
                                        .protocol = nccl_protocol_name(NCCL_SIMPLE),
                                        .channels = exchanges_channels(run)};
    case RUN_XML:
        return (struct executor_choice){.xml = true,
                                        .algorithm = x->algorithm->name,
                                        .protocol = nccl_protocol_name(run->protocol),
                                        .channels = x->algorithm->n_channels,
                                        .blocks = x->algorithm->most_blocks,
                                        .chunk_bytes = x->piece_bytes};
    default:
        return (struct executor_choice){.limited = is_limited(settings),
                                        .algorithm = nccl_algorithm_name(o->choice.algorithm),
                                        .protocol = nccl_protocol_name(run->protocol),
                                        .channels = o->choice.split.channels,
                                        .threads = o->choice.threads,
                                        .chunk_bytes = o->first.chunk_bytes};
    }
}

void run_member_ended(struct executor_run *run, uint32_t member, ps_t now)
{
    const struct executor_env *env = run_env(run);
    run->members[member].ended = true;
    void *ctx = run->ctx;
    run->members_left--;
    run->open++; // keeps the run until the callback has returned
    env->ended(env->ctx, ctx, run->members[member].tag, now);
    run->open--;
    run_release(run);
}

void run_block_ended(struct block *b, ps_t now)
{
    struct executor_run *run = b->run;
    uint32_t member = b->plan.rank;
    // The run must outlast this function, which uses it below.
    run->open++;
    bool last = run->source == RUN_EXCHANGES ? exchange_block_ended(b, now)
                                             : --run->members[member].blocks_left == 0;
    if (last && !run->members[member].ended)
        run_member_ended(run, member, now);
    run->open--;
    run_release(run);
}

// The kernel runs.
static void on_launched(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct member *m = timer->data;
    struct executor_run *run = m->run;
    const struct executor_env *env = run_env(run);
    uint32_t member = (uint32_t)(m - run->members);
    uint32_t path = path_own(env->path_book, m->path);
    path_extend(env->path_book, path, PATH_LIBRARY, e->now_ps);
    uint32_t before = path_enter(env->path_book, path);
    tally_add(env->delays, -1);
    sim_timer_end(env->engine, &m->timer);
    run->launched++;
    run->open++;
    if (run->source == RUN_EXCHANGES)
        exchanges_begin(run, member, e->now_ps);
    else if (m->n_blocks == 0) // a file gives it nothing to do
        run_member_ended(run, member, e->now_ps);
    for (uint32_t b = 0; b < m->n_blocks; b++)
        block_begin(&run->blocks[m->first_block + b], e->now_ps);
    run->open--;
    run_release(run);
    path_leave(env->path_book, before);
}

void executor_begin(struct executor_run *run, uint32_t member, uint32_t tag, ps_t now)
{
    const struct executor_env *env = run_env(run);
    struct member *m = &run->members[member];
    m->run = run;
    m->tag = tag;
    if (run->source == RUN_MPI) {
        env->mpi->begin(run, member, now);
        return;
    }
    m->path = path_take(env->path_book, now);
    tally_add(env->delays, 1);
    sim_timer_init_locked(env->engine, &m->timer, run_node(run, member), on_launched, m);
    sim_timer_start(env->engine, &m->timer, now + run_spec(run)->cost.launch_ps[run->protocol]);
}

/* ---- bytes ---- */

static uint64_t block_bytes(const struct nccl_operation *o, const struct nccl_block *b)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < b->length; i++) {
        struct nccl_primitive p = nccl_primitive(o, b, i);
        for (uint32_t k = 0; k < b->n_to; k++)
            if (p.sends >> k & 1)
                sum += nccl_wire_bytes(o->choice.protocol, p.bytes);
    }
    return sum;
}

uint64_t executor_bytes(struct executor_group *g, const struct executor_request *request)
{
    struct nccl_operation o;
    struct nccl_block blocks[NCCL_BLOCKS];
    uint64_t sum = 0;
    if (g->spec->mpi != NULL)
        return g->library->env.mpi->bytes(g, request);
    if (g->spec->xml != NULL)
        return file_bytes(g, request->bytes);
    if (request->exchanges)
        return exchanges_bytes(g, request);
    if (!nccl_operation_init(&o, g->comm, request->function, request->bytes, request->root))
        return 0;
    for (uint32_t m = 0; m < g->n; m++)
        for (uint32_t c = 0; c < o.choice.split.channels; c++) {
            uint32_t n = nccl_blocks(&o, c, m, blocks);
            for (uint32_t b = 0; b < n; b++)
                sum += block_bytes(&o, &blocks[b]);
        }
    return sum;
}
