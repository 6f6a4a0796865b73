// SPDX-License-Identifier: MIT
// A rank starts the next repeat when its own part of the previous one has ended, like kernels on a
// stream; there is no barrier between ranks.
//
// Vectors may be sent in another precision. A rank then converts its input before the collective,
// and its result after it, at a given rate in bytes of the original precision.
#include "workload/collective_job.h"

#include <stdlib.h>

#include "collective/algorithm/grid.h"
#include "collective/recorder.h"
#include "collective/traffic.h"
#include "engine/base/memory.h"
#include "workload/workload.h"

struct collective_program {
    uint32_t group, n_ranks;
    struct communicator *comm;
    struct comm_request request;
    uint64_t repeat;
    uint64_t conversion_bps;  // 0 = vectors are not converted, or at once
    uint64_t *begun;          // [rank] number of steps begun
    struct timeline timeline; // of a library's channels
};

static void *collective_new(struct job_run *job)
{
    const struct collective_settings *s = job->spec->settings;
    struct collective_program *p = memory_zeroed(1, sizeof *p);
    job->comm.channels = (uint32_t)s->params.channels;
    p->group = job_group_new(job, NULL, &s->schedule);
    p->comm = job_group_comm(job, p->group);
    p->timeline.n_ranks = s->schedule.library != NULL && !s->schedule.library->by_switches
                              ? job->workload->timeline_ranks
                              : 0;
    comm_watch(p->comm, &p->timeline, NULL);
    p->request = (struct comm_request){.op = (enum coll_op)s->params.op,
                                       .bytes = s->params.bytes,
                                       .dims = (UINT32_C(1) << s->schedule.n_dims) - 1,
                                       .root = (uint32_t)s->params.root,
                                       .inner = s->inner,
                                       .name = job->spec->name};
    p->repeat = s->params.repeat;
    bool converts = s->params.wire_precision < 1 && s->params.conversion_bps != PARAM_AUTO;
    p->conversion_bps = converts ? s->params.conversion_bps : 0;
    p->n_ranks = job->n_ranks;
    p->begun = memory_zeroed(job->n_ranks, sizeof *p->begun);
    return p;
}

static void collective_free(void *self)
{
    struct collective_program *p = self;
    free(p->begun);
    free(p->timeline.slices);
    free(p);
}

const struct timeline *collective_timeline(const void *self)
{
    return &((const struct collective_program *)self)->timeline;
}

// The steps of a repeat with conversions.
enum { STEP_OF_COLLECTIVE = 1, STEPS_CONVERTED = 3 };

// Bytes of the vector that a rank has before the operation, or after it.
static uint64_t converted_bytes(const struct collective_program *p, uint32_t rank, bool after)
{
    const struct comm_request *r = &p->request;
    uint64_t part = r->bytes / p->n_ranks + (r->bytes % p->n_ranks > 0);
    bool root = rank == r->root;
    switch (r->op) {
    case COLL_REDUCE_SCATTER:
        return after ? part : r->bytes;
    case COLL_ALL_GATHER:
        return after ? r->bytes : part;
    case COLL_BROADCAST:
        return after == root ? 0 : r->bytes;
    case COLL_REDUCE:
        return after && !root ? 0 : r->bytes;
    case COLL_GATHER:
        return !after ? part : root ? r->bytes : 0;
    case COLL_SCATTER:
        return after ? part : root ? r->bytes : 0;
    default:
        return r->bytes;
    }
}

static enum program_state collective_next(void *self, uint32_t rank, ps_t now, struct step *step)
{
    struct collective_program *p = self;
    (void)now;
    uint32_t each = p->conversion_bps > 0 ? STEPS_CONVERTED : 1;
    if (p->begun[rank] == p->repeat * each)
        return PROGRAM_END;
    uint64_t number = p->begun[rank]++ % each;
    if (each == STEPS_CONVERTED && number != STEP_OF_COLLECTIVE) {
        uint64_t bytes = converted_bytes(p, rank, number > STEP_OF_COLLECTIVE);
        *step = (struct step){.kind = STEP_DELAY,
                              .blocks = true,
                              .takes_ps = serialization_ps(bytes, p->conversion_bps)};
        return PROGRAM_STEP;
    }
    *step = (struct step){
        .kind = STEP_COLLECTIVE, .blocks = true, .group = p->group, .request = &p->request};
    return PROGRAM_STEP;
}

static uint64_t collective_bytes(const void *self)
{
    const struct collective_program *p = self;
    return comm_bytes(p->comm, &p->request) * p->repeat;
}

static const struct program_ops collective_program = {
    .next = collective_next,
    .bytes = collective_bytes,
    .free = collective_free,
};

static void collective_traffic(const struct job_spec *job, struct comm_traffic *t)
{
    const struct collective_settings *s = job->settings;
    enum coll_op op = (enum coll_op)s->params.op;
    double ranks = coll_ranks(&s->schedule), channels = (double)s->params.channels;
    uint32_t all = (UINT32_C(1) << s->schedule.n_dims) - 1;
    double pairs = comm_queue_pairs(&s->schedule, op, all, s->params.bytes);
    pairs = pairs < ranks * (ranks - 1) ? pairs : ranks * (ranks - 1);
    t->pairs = pairs * (channels > 0 ? channels : 1);
    if (!s->schedule.library)
        comm_traffic_collective(t, &s->schedule, op, all, s->params.bytes,
                                (double)s->params.repeat);
}

static double collective_count(const struct job_spec *job)
{
    return (double)((const struct collective_settings *)job->settings)->params.repeat;
}

/* ---- the kind ---- */

static const char *const orders[] = {
    "fifo", "lifo", "smallest_first", "alternating", "fewest_phases_first", NULL};
static const char *const schedules[] = {"baseline", "bandwidth_aware", "round_robin", "themis",
                                        NULL};

static const struct param collective_params[] = {
    PARAM_ROW("op", ENUM, offsetof(struct collective_params, op), .choices = coll_op_names,
              .help = "collective operation"),
    PARAM_ROW("bytes", BYTES, offsetof(struct collective_params, bytes), .def = "0B", .max = "1PB",
              .help = "largest per-rank buffer; all but a barrier need it", .source = "NCCL tests"),
    PARAM_ROW("chunks", COUNT, offsetof(struct collective_params, chunks), .def = "1", .min = "1",
              .max = "4096", .help = "pieces that go through the phases one by one"),
    PARAM_ROW("active_chunks", COUNT, offsetof(struct collective_params, active_chunks),
              .def = "auto", .min = "1", .max = "4096", .can_auto = true,
              .help = "that a dimension runs at once; auto = all where one algorithm is flat "
                      "over all ranks, 1 where each dimension has its own",
              .source = "ASTRA-sim: active-chunks-per-dimension"),
    PARAM_ROW(
        "order", ENUM, offsetof(struct collective_params, order), .choices = orders, .def = "fifo",
        .help =
            "of chunks that wait for a dimension: as they came, the latest first, the smallest, "
            "reduce-scatters and all-gathers in turn, or those with the fewest phases left",
        .source = "Rashidi et al., ISPASS 2020; ISCA 2022"),
    PARAM_ROW("schedule", ENUM, offsetof(struct collective_params, schedule), .choices = schedules,
              .def = "bandwidth_aware",
              .help =
                  "over dimensions: reduce-scatter inwards out and all-gather back "
                  "(bandwidth_aware), the same from another dimension for every chunk "
                  "(round_robin), or from the least loaded one (themis); or a full operation in "
                  "each, as ASTRA-sim by default (baseline)",
              .source = "Rashidi et al., ISPASS 2020; ISCA 2022"),
    PARAM_ROW("repeat", COUNT, offsetof(struct collective_params, repeat), .def = "1", .min = "1",
              .max = "1000000",
              .help = "times in a row; a rank starts the next when its own part is done"),
    PARAM_ROW("root", COUNT, offsetof(struct collective_params, root), .def = "0",
              .help = "of broadcast, reduce, gather and scatter"),
    PARAM_ROW("channels", COUNT, offsetof(struct collective_params, channels), .def = "1",
              .min = "1", .max = "1024",
              .help = "chunks take turns on so many queue pairs of a pair of ranks",
              .source = "NCCL channels"),
    PARAM_ROW("endpoint_delay", TIME, offsetof(struct collective_params, endpoint_ps), .def = "0ns",
              .max = "1s", .help = "of a rank before the messages of each step, and after the last",
              .source = "ASTRA-sim: endpoint-delay"),
    PARAM_ROW("reduce_rate", RATE, offsetof(struct collective_params, reduce_bps), .def = "auto",
              .min = "1Mbps", .can_auto = true,
              .help = "at which a rank adds what it receives; auto = at once (over the "
                      "analytical network: 3 ns per 500 kB of a message)"),
    PARAM_ROW("wire_precision", RATIO, offsetof(struct collective_params, wire_precision),
              .def = "1", .min = "0.01", .max = "1",
              .help = "bytes sent per byte of the vector: 0.5 = 16-bit values of 32-bit ones",
              .source = "Micikevicius et al., ICLR 2018; Renggli et al., SC 2019"),
    PARAM_ROW(
        "conversion_rate", RATE, offsetof(struct collective_params, conversion_bps), .def = "auto",
        .min = "1Mbps", .can_auto = true,
        .help = "with wire_precision below 1: at which a rank converts its input before the "
                "collective, and its result after it; auto = at once. Part of the job's time, not "
                "of the collective's"),
    MAPPING_ROWS(struct collective_params, mapping),
};

const struct job_kind collective_kind = {
    .name = "collective",
    .doc = "a collective operation by an algorithm, in chunks",
    .source = "NCCL; Thakur et al. 2005",
    .params = collective_params,
    .n_params = sizeof collective_params / sizeof *collective_params,
    .settings_bytes = sizeof(struct collective_settings),
    .program = &collective_program,
    .new = collective_new,
    .traffic = collective_traffic,
    .collectives = collective_count,
};
