// SPDX-License-Identifier: MIT
// Servers and workers as programs. All information of a server about groups comes in messages.
#include "workload/training/parameter_server.h"

#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "workload/workload.h"

enum { TAG_PUSH, TAG_PULL };

// A server's record of a group.
struct served {
    uint64_t clock;     // iterations whose update has been applied
    uint64_t begun;     // receives posted
    uint64_t version;   // of the parameters in the last answer
    bool arrived, held; // an update waits to be applied; it has been, and the answer is held back
};

enum out_kind { OUT_RECEIVE, OUT_ANSWER, OUT_UPDATE };
struct out { // a step of a server that is to be started
    enum out_kind kind;
    uint32_t group;
};

struct server {
    struct served *groups;
    struct out
        *outs; // ring: each group has at most a receive and an answer, and there is one update
    uint32_t first_out, n_outs, cap_outs;
    uint32_t *queue; // ring: groups whose updates wait, in the order of arrival
    uint32_t first_queued, n_queued;
    uint64_t version, answers;
    bool updating;
    struct staleness staleness;
};

enum phase { PHASE_COMPUTE, PHASE_REDUCE, PHASE_EXCHANGE, PHASE_SPREAD };
struct worker {
    enum phase phase;
    uint64_t iteration;
    uint32_t issued, open; // sends and receives of the exchange
    double factor;         // of its compute time
    struct rng rng;
};

struct server_job {
    struct job_run *job;
    const struct server_params *params;
    uint32_t n_workers, n_groups, group_size, n_servers;
    struct server *servers; // [rank - n_workers]
    struct worker *workers; // [rank]
    uint32_t *comms;        // [group] its number, where groups have several ranks
    struct comm_request reduce, spread;
};

uint32_t server_workers(const struct server_params *p, uint32_t ranks)
{
    return p->servers < ranks ? ranks - (uint32_t)p->servers : 0;
}

uint32_t server_groups(const struct server_params *p, uint32_t ranks)
{
    return p->groups == PARAM_AUTO ? server_workers(p, ranks) : (uint32_t)p->groups;
}

static uint64_t part_bytes(const struct server_job *s, uint32_t server)
{
    struct coll_shape parts = {.ranks = s->n_servers, .bytes = s->params->bytes};
    return coll_segment(&parts, server + 1) - coll_segment(&parts, server);
}

/* ---- servers ---- */

static void server_out(struct server *v, enum out_kind kind, uint32_t group)
{
    v->outs[(v->first_out + v->n_outs++) % v->cap_outs] = (struct out){kind, group};
}

static void receive_next(const struct server_job *s, struct server *v, uint32_t group)
{
    if (v->groups[group].begun++ < s->params->iterations)
        server_out(v, OUT_RECEIVE, group);
}

static void answer(const struct server_job *s, struct server *v, uint32_t group)
{
    v->groups[group].held = false;
    v->groups[group].version = v->version;
    v->answers++;
    server_out(v, OUT_ANSWER, group);
    receive_next(s, v, group);
}

static uint64_t slowest_clock(const struct server_job *s, const struct server *v)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t g = 0; g < s->n_groups; g++)
        least = v->groups[g].clock < least ? v->groups[g].clock : least;
    return least;
}

static void answer_all(const struct server_job *s, struct server *v)
{
    uint64_t ahead = s->params->mode == SERVER_ASYNC   ? UINT64_MAX
                     : s->params->mode == SERVER_STALE ? s->params->staleness
                                                       : 0;
    uint64_t slowest = slowest_clock(s, v);
    for (uint32_t g = 0; g < s->n_groups; g++)
        if (v->groups[g].held && v->groups[g].clock - slowest <= ahead)
            answer(s, v, g);
}

static void count_staleness(struct staleness *all, uint64_t value)
{
    all->counts[value < STALENESS_VALUES ? value : STALENESS_VALUES - 1]++;
    all->n++;
    all->sum += value;
    all->most = value > all->most ? value : all->most;
}

// Apply the update at the head of the queue, or of a synchronous round all updates as one.
static void apply(const struct server_job *s, struct server *v)
{
    bool round = s->params->mode == SERVER_SYNC;
    uint32_t n = round ? s->n_groups : 1;
    for (uint32_t i = 0; i < n; i++) {
        struct served *g = &v->groups[v->queue[v->first_queued]];
        v->first_queued = (v->first_queued + 1) % s->n_groups;
        v->n_queued--;
        g->arrived = false;
        g->held = true;
        g->clock++;
        count_staleness(&v->staleness, v->version - g->version);
        v->version += !round;
    }
    v->version += round;
    answer_all(s, v);
}

static ps_t update_ps(const struct server_job *s, uint32_t server)
{
    uint64_t n = s->params->mode == SERVER_SYNC ? s->n_groups : 1;
    if (s->params->update_bps == PARAM_AUTO)
        return 0;
    return serialization_ps(n * part_bytes(s, server), s->params->update_bps);
}

static void begin_updates(const struct server_job *s, struct server *v, uint32_t server)
{
    uint32_t needed = s->params->mode == SERVER_SYNC ? s->n_groups : 1;
    while (!v->updating && v->n_queued >= needed) {
        if (update_ps(s, server) > 0) {
            v->updating = true;
            server_out(v, OUT_UPDATE, 0);
        } else {
            apply(s, v);
        }
    }
}

static void server_done(const struct server_job *s, uint32_t server, uint32_t id)
{
    struct server *v = &s->servers[server];
    if (id == 2 * s->n_groups) {
        v->updating = false;
        apply(s, v);
    } else if (id < s->n_groups) {
        v->groups[id].arrived = true;
        v->queue[(v->first_queued + v->n_queued++) % s->n_groups] = id;
    }
    begin_updates(s, v, server);
}

static enum program_state server_next(const struct server_job *s, uint32_t server,
                                      struct step *step)
{
    struct server *v = &s->servers[server];
    if (v->n_outs == 0)
        return v->answers == s->n_groups * s->params->iterations ? PROGRAM_END : PROGRAM_WAIT;
    struct out out = v->outs[v->first_out];
    uint32_t leader = out.group * s->group_size;
    v->first_out = (v->first_out + 1) % v->cap_outs;
    v->n_outs--;
    switch (out.kind) {
    case OUT_RECEIVE:
        *step = (struct step){.kind = STEP_RECV, .id = out.group, .peer = leader, .tag = TAG_PUSH};
        break;
    case OUT_ANSWER:
        *step = (struct step){.kind = STEP_SEND,
                              .id = s->n_groups + out.group,
                              .peer = leader,
                              .tag = TAG_PULL,
                              .bytes = part_bytes(s, server),
                              .name = "parameters"};
        break;
    case OUT_UPDATE:
        *step = (struct step){
            .kind = STEP_COMPUTE, .id = 2 * s->n_groups, .takes_ps = update_ps(s, server)};
        break;
    }
    return PROGRAM_STEP;
}

/* ---- workers ---- */

static ps_t compute_ps(const struct server_job *s, struct worker *w)
{
    double factor = w->factor * (1 + s->params->jitter * (2 * rng_unit(&w->rng) - 1));
    return (ps_t)((double)s->params->compute_ps * factor);
}

static struct step group_step(const struct server_job *s, uint32_t rank,
                              const struct comm_request *request)
{
    return (struct step){.kind = STEP_COLLECTIVE,
                         .id = 2 * s->n_servers,
                         .blocks = true,
                         .group = s->comms[rank / s->group_size],
                         .request = request};
}

// The leader of a group sends its gradient to all servers, and receives the parameters of all.
static enum program_state exchange(const struct server_job *s, struct worker *w, struct step *step)
{
    if (w->issued == 2 * s->n_servers) {
        if (w->open > 0)
            return PROGRAM_WAIT;
        w->phase = PHASE_SPREAD;
        return PROGRAM_END; // of the exchange
    }
    uint32_t id = w->issued++, server = id % s->n_servers;
    bool sends = id < s->n_servers;
    w->open++;
    *step = (struct step){.kind = sends ? STEP_SEND : STEP_RECV,
                          .id = id,
                          .peer = s->n_workers + server,
                          .tag = sends ? TAG_PUSH : TAG_PULL,
                          .bytes = sends ? part_bytes(s, server) : 0,
                          .name = sends ? "gradients" : NULL};
    return PROGRAM_STEP;
}

static void begin_exchange(struct worker *w, bool leads)
{
    w->phase = leads ? PHASE_EXCHANGE : PHASE_SPREAD;
    w->issued = w->open = 0;
}

// The next step of an iteration; steps that the worker does not need are left out.
static enum program_state worker_next(const struct server_job *s, uint32_t rank, struct step *step)
{
    struct worker *w = &s->workers[rank];
    bool grouped = s->group_size > 1;
    while (w->iteration < s->params->iterations) {
        enum program_state state;
        switch (w->phase) {
        case PHASE_COMPUTE:
            w->phase = PHASE_REDUCE;
            *step = (struct step){.kind = STEP_COMPUTE,
                                  .id = 2 * s->n_servers,
                                  .blocks = true,
                                  .takes_ps = compute_ps(s, w)};
            if (step->takes_ps > 0)
                return PROGRAM_STEP;
            break;
        case PHASE_REDUCE:
            begin_exchange(w, rank % s->group_size == 0);
            *step = grouped ? group_step(s, rank, &s->reduce) : *step;
            if (grouped)
                return PROGRAM_STEP;
            break;
        case PHASE_EXCHANGE:
            state = exchange(s, w, step);
            if (state != PROGRAM_END)
                return state;
            break;
        case PHASE_SPREAD:
            w->phase = PHASE_COMPUTE;
            w->iteration++;
            *step = grouped ? group_step(s, rank, &s->spread) : *step;
            if (grouped)
                return PROGRAM_STEP;
            break;
        }
    }
    return PROGRAM_END;
}

/* ---- the program ---- */

static enum program_state job_next(void *self, uint32_t rank, ps_t now, struct step *step)
{
    const struct server_job *s = self;
    (void)now;
    if (rank >= s->n_workers)
        return server_next(s, rank - s->n_workers, step);
    uint64_t iteration = s->workers[rank].iteration; // the last step of an iteration ends it
    enum program_state state = worker_next(s, rank, step);
    step->iteration = (uint32_t)iteration + 1;
    return state;
}

static void job_done(void *self, uint32_t rank, uint32_t id, ps_t now)
{
    const struct server_job *s = self;
    (void)now;
    if (rank >= s->n_workers)
        server_done(s, rank - s->n_workers, id);
    else if (id < 2 * s->n_servers)
        s->workers[rank].open--;
}

static uint64_t job_bytes(const void *self)
{
    const struct server_job *s = self;
    uint64_t sum = 2 * s->params->bytes * s->n_groups;
    for (uint32_t g = 0; g < s->n_groups && s->comms; g++) {
        struct communicator *c = job_group_comm(s->job, s->comms[g]);
        sum += comm_bytes(c, &s->reduce) + comm_bytes(c, &s->spread);
    }
    return sum * s->params->iterations;
}

static char *job_waits(const void *self, uint32_t rank)
{
    const struct server_job *s = self;
    static const char *const words[] = {[PHASE_COMPUTE] = "begins",
                                        [PHASE_REDUCE] = "computes",
                                        [PHASE_EXCHANGE] = "exchanges with servers",
                                        [PHASE_SPREAD] = "reduces gradients in its group"};
    uint32_t node = job_rank(s->job->spec, rank);
    if (rank >= s->n_workers)
        return text_format("rank%u: a server that has sent %llu of %llu answers", node,
                           (unsigned long long)s->servers[rank - s->n_workers].answers,
                           (unsigned long long)s->n_groups * s->params->iterations);
    const struct worker *w = &s->workers[rank];
    bool spreads = w->phase == PHASE_COMPUTE && w->iteration > 0;
    return text_format("rank%u: in iteration %llu of %llu, it %s", node,
                       (unsigned long long)w->iteration + !spreads,
                       (unsigned long long)s->params->iterations,
                       spreads ? "receives parameters in its group" : words[w->phase]);
}

static void job_self_free(void *self)
{
    struct server_job *s = self;
    for (uint32_t i = 0; i < s->n_servers; i++) {
        free(s->servers[i].groups);
        free(s->servers[i].outs);
        free(s->servers[i].queue);
    }
    free(s->servers);
    free(s->workers);
    free(s->comms);
    free(s);
}

static void init_server(const struct server_job *s, struct server *v)
{
    v->groups = memory_zeroed(s->n_groups, sizeof *v->groups);
    v->queue = memory_zeroed(s->n_groups, sizeof *v->queue);
    v->cap_outs = 2 * s->n_groups + 1;
    v->outs = memory_zeroed(v->cap_outs, sizeof *v->outs);
    for (uint32_t g = 0; g < s->n_groups; g++)
        receive_next(s, v, g);
}

static void init_worker(const struct server_job *s, uint32_t rank)
{
    struct worker *w = &s->workers[rank];
    uint64_t of = (uint64_t)s->job->index << 32 | rank;
    w->rng = rng_init(s->job->workload->engine->seed, RNG_SERVED, (uint32_t)hash_mix(of));
    w->factor = 1 + s->params->spread * rng_unit(&w->rng);
}

static void make_groups(struct server_job *s)
{
    const struct server_settings *settings = s->job->spec->settings;
    struct coll_schedule schedule = group_schedule(&settings->choice, s->group_size);
    uint32_t *ranks = memory_zeroed(s->group_size, sizeof *ranks);
    s->comms = memory_zeroed(s->n_groups, sizeof *s->comms);
    for (uint32_t g = 0; g < s->n_groups; g++) {
        for (uint32_t m = 0; m < s->group_size; m++)
            ranks[m] = g * s->group_size + m;
        s->comms[g] = job_group_new(s->job, ranks, &schedule);
    }
    free(ranks);
}

void *server_job_new(struct job_run *job)
{
    const struct server_settings *settings = job->spec->settings;
    struct server_job *s = memory_zeroed(1, sizeof *s);
    s->job = job;
    s->params = &settings->params;
    s->n_servers = (uint32_t)s->params->servers;
    s->n_workers = server_workers(s->params, job->n_ranks);
    s->n_groups = server_groups(s->params, job->n_ranks);
    s->group_size = s->n_workers / s->n_groups;
    s->reduce = (struct comm_request){
        .op = COLL_ALL_REDUCE, .bytes = s->params->bytes, .dims = 1, .name = "gradients"};
    s->spread = (struct comm_request){
        .op = COLL_BROADCAST, .bytes = s->params->bytes, .dims = 1, .name = "parameters"};
    s->servers = memory_zeroed(s->n_servers, sizeof *s->servers);
    s->workers = memory_zeroed(s->n_workers, sizeof *s->workers);
    for (uint32_t i = 0; i < s->n_servers; i++)
        init_server(s, &s->servers[i]);
    for (uint32_t i = 0; i < s->n_workers; i++)
        init_worker(s, i);
    if (s->group_size > 1)
        make_groups(s);
    return s;
}

void server_staleness(const struct job_run *job, struct staleness *sum)
{
    const struct server_job *s = job->self;
    for (uint32_t i = 0; i < s->n_servers; i++) {
        const struct staleness *one = &s->servers[i].staleness;
        for (uint32_t v = 0; v < STALENESS_VALUES; v++)
            sum->counts[v] += one->counts[v];
        sum->n += one->n;
        sum->sum += one->sum;
        sum->most = one->most > sum->most ? one->most : sum->most;
    }
}

const struct program_ops server_program = {
    .next = job_next,
    .done = job_done,
    .bytes = job_bytes,
    .waits = job_waits,
    .free = job_self_free,
};
