// SPDX-License-Identifier: MIT
// Messages at given times: each rank posts its messages in the order of their starts. No state of a
// message is stored; the job ends when all messages are acknowledged.
#include "workload/flows.h"

#include <stdlib.h>

#include "collective/traffic.h"
#include "engine/base/memory.h"
#include "workload/workload.h"

struct flows_program {
    const struct job_run *job;
    const struct flow_list *list;
    uint32_t *order;      // indices into the list by source, then start
    uint32_t *next, *end; // [rank] range in `order`: next to be posted, end
    uint32_t *out, *in; // [rank] messages that it sends and receives, for hints; NULL = they start
                        // at different times, so their number at one time is not known
};

struct flow_key {
    uint32_t src, index;
    ps_t start_ps;
};

static int compare_keys(const void *a, const void *b)
{
    const struct flow_key *x = a, *y = b;
    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static void count_ends(struct flows_program *p, uint32_t n_ranks)
{
    const struct flow_list *list = p->list;
    if (list->connections == FLOW_OF_PAIR) // messages of a pair follow each other
        return;
    for (size_t i = 1; i < list->n; i++)
        if (list->flows[i].start_ps != list->flows[0].start_ps)
            return;
    p->out = memory_zeroed(n_ranks, sizeof *p->out);
    p->in = memory_zeroed(n_ranks, sizeof *p->in);
    for (size_t i = 0; i < list->n; i++) {
        p->out[list->flows[i].src]++;
        p->in[list->flows[i].dst]++;
    }
}

static void *flows_new(struct job_run *job)
{
    struct flows_program *p = memory_zeroed(1, sizeof *p);
    p->job = job;
    p->list = job_flows(job->spec);
    uint32_t n = (uint32_t)p->list->n;
    struct flow_key *keys = memory_zeroed(n, sizeof *keys);
    p->order = memory_zeroed(n, sizeof *p->order);
    p->next = memory_zeroed(job->n_ranks, sizeof *p->next);
    p->end = memory_zeroed(job->n_ranks, sizeof *p->end);
    for (uint32_t i = 0; i < n; i++)
        keys[i] = (struct flow_key){p->list->flows[i].src, i, p->list->flows[i].start_ps};
    qsort(keys, n, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || keys[i].src != keys[i - 1].src)
            p->next[keys[i].src] = i;
        p->end[keys[i].src] = i + 1;
        p->order[i] = keys[i].index;
    }
    free(keys);
    count_ends(p, job->n_ranks);
    return p;
}

static void flows_free(void *self)
{
    struct flows_program *p = self;
    free(p->order);
    free(p->out);
    free(p->in);
    free(p->next);
    free(p->end);
    free(p);
}

static ps_t flows_begins_ps(const void *self, uint32_t rank)
{
    const struct flows_program *p = self;
    bool any = p->next[rank] < p->end[rank];
    return any ? p->list->flows[p->order[p->next[rank]]].start_ps : PS_NEVER;
}

static enum program_state flows_next(void *self, uint32_t rank, ps_t now, struct step *step)
{
    struct flows_program *p = self;
    if (p->next[rank] == p->end[rank])
        return PROGRAM_END;
    uint32_t index = p->order[p->next[rank]];
    const struct raw_flow *flow = &p->list->flows[index];
    ps_t at = job_start_ps(p->job, rank) + flow->start_ps;
    if (at > now) {
        *step = (struct step){.kind = STEP_DELAY, .blocks = true, .takes_ps = at - now};
        return PROGRAM_STEP;
    }
    p->next[rank]++;
    *step = (struct step){.kind = STEP_SEND,
                          .id = index,
                          .peer = flow->dst,
                          .bytes = flow->bytes,
                          .detached = true,
                          .of_pair = p->list->connections == FLOW_OF_PAIR};
    if (p->out)
        step->hint = (struct cc_hint){p->out[rank], p->in[flow->dst], 1 + index};
    return PROGRAM_STEP;
}

static uint64_t flows_bytes(const void *self)
{
    const struct flows_program *p = self;
    uint64_t sum = 0;
    for (size_t i = 0; i < p->list->n; i++)
        sum += p->list->flows[i].bytes;
    return sum;
}

static const struct program_ops flows_program = {
    .next = flows_next,
    .begins_ps = flows_begins_ps,
    .bytes = flows_bytes,
    .free = flows_free,
};

bool job_is_measured(const struct job_spec *job)
{
    for (size_t i = 0; job->kind->raw && i < job_flows(job)->n; i++)
        if (job_flows(job)->flows[i].measured_ps > 0)
            return true;
    return false;
}

static void flows_traffic(const struct job_spec *job, struct comm_traffic *t)
{
    const struct flow_list *list = job_flows(job);
    size_t every = list->n / COMM_SAMPLE + 1;
    t->listed = list->n > 0;
    t->pairs = (double)list->n;
    for (size_t i = 0; i < list->n; i++)
        comm_traffic_add(t, list->flows[i].src, list->flows[i].dst, list->flows[i].bytes, 1,
                         i % every == 0);
}

static void flows_settings_free(void *settings) { free(((struct flow_list *)settings)->flows); }

/* ---- the kinds ---- */

static const char *const connection_words[] = {"own", "pair", NULL};

static const char *const start_units[] = {"auto", "us", "ns", "ps", NULL};

static const struct param flows_params[] = {
    PARAM_ROW(
        "connections", ENUM, offsetof(struct flows_settings, list.connections), .def = "own",
        .choices = connection_words,
        .help =
            "own: each message has a connection of its own; pair: the messages from one rank to "
            "another share one, as those of collectives do"),
    PARAM_ROW("file", TEXT, offsetof(struct flows_settings, file), .def = "",
              .help = "CSV of src,dst,bytes,start_ns instead of the list `flows`, or a connection "
                      "matrix of htsim (.cm)",
              .source = "csg-htsim, connection_matrix.cpp"),
    PARAM_ROW("start_unit", ENUM, offsetof(struct flows_settings, start_unit), .def = "auto",
              .choices = start_units,
              .help = "of the starts of a connection matrix; auto = us, as in htsim_uec, with a "
                      "warning; htsim_roce has ps"),
};

static const struct param incast_params[] = {
    PARAM_ROW("receiver", COUNT, offsetof(struct incast_settings, receiver), .def = "0",
              .help = "rank that all send to"),
    PARAM_ROW("bytes", BYTES, offsetof(struct incast_settings, bytes), .min = "1B", .max = "1PB",
              .help = "of each sender"),
};

static const struct param permutation_params[] = {
    PARAM_ROW("shift", COUNT, offsetof(struct permutation_settings, shift), .def = "1",
              .help = "rank i sends to rank i + shift, modulo the ranks"),
    PARAM_ROW("bytes", BYTES, offsetof(struct permutation_settings, bytes), .min = "1B",
              .max = "1PB", .help = "of each rank"),
};

static const struct param poisson_params[] = {
    PARAM_ROW("cdf", TEXT, offsetof(struct poisson_settings, cdf),
              .help = "file of the distribution of sizes, lines of bytes and percent"),
    PARAM_ROW("load", RATIO, offsetof(struct poisson_settings, load), .min = "0.0001", .max = "1",
              .help = "share of each rank's outermost link that its payload takes"),
    PARAM_ROW("duration", TIME, offsetof(struct poisson_settings, duration_ps), .min = "1ns",
              .max = "100000s", .help = "in which flows begin"),
};

#define FLOWS_KIND(t)                                                                              \
    .params = t##_params, .n_params = sizeof t##_params / sizeof *t##_params,                      \
    .settings_bytes = sizeof(struct t##_settings), .free_settings = flows_settings_free,           \
    .program = &flows_program, .raw = true, .new = flows_new, .traffic = flows_traffic

const struct job_kind flows_kind = {.name = "flows",
                                    .doc = "given messages, each on its own queue pair",
                                    .source = "",
                                    FLOWS_KIND(flows)};
const struct job_kind incast_kind = {.name = "incast",
                                     .doc =
                                         "`senders` (count or list) send to one receiver at once",
                                     .source = "",
                                     FLOWS_KIND(incast)};
const struct job_kind permutation_kind = {.name = "permutation",
                                          .doc = "every rank sends to the one `shift` further",
                                          .source = "",
                                          FLOWS_KIND(permutation)};
const struct job_kind poisson_kind = {
    .name = "poisson",
    .doc = "flows to random ranks at random times, each on its own queue pair",
    .source = "Alizadeh et al., SIGCOMM 2013 (pFabric)",
    FLOWS_KIND(poisson)};
