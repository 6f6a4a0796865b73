// SPDX-License-Identifier: MIT
// The catalogue of workloads and the tables of their scalar keys.
#include "workload/job.h"

#define JP(f) offsetof(struct job_params, f)
#define COMMON                                                                                     \
    {.name = "start",                                                                              \
     .type = PARAM_TIME,                                                                           \
     .offset = JP(start_ps),                                                                       \
     .def = "0ns",                                                                                 \
     .min = "0ns",                                                                                 \
     .max = "100000s",                                                                             \
     .help = "simulated time at which the job starts"},                                            \
        {.name = "class",                                                                          \
         .type = PARAM_COUNT,                                                                      \
         .offset = JP(cls),                                                                        \
         .def = "3",                                                                               \
         .max = "5",                                                                               \
         .help = "traffic class of its data; 6 is for control, 7 is reserved",                     \
         .source = "IEEE 802.1Q priority; DSCP 26 for class 3, else 8 * class (RFC 2474)"},        \
    {                                                                                              \
        .name = "name", .type = PARAM_TEXT, .offset = JP(name), .def = "", .help = "for reports"   \
    }

static const char *const orders[] = {"fifo", "lifo", "smallest_first", NULL};
static const char *const schedules[] = {"baseline", "bandwidth_aware", "round_robin", "themis",
                                        NULL};
static const char *const mappings[] = {"local", "strided", "random", NULL};
static const char *const ops[] = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all",
                                  "broadcast",  "reduce",         "gather",     "scatter",
                                  "send_recv",  "barrier",        NULL};

#define MAPPING                                                                                    \
    {.name = "mapping",                                                                            \
     .type = PARAM_ENUM,                                                                           \
     .offset = JP(mapping),                                                                        \
     .choices = mappings,                                                                          \
     .def = "local",                                                                               \
     .help = "of the job's ranks to places: in order; `stride` apart, so that neighbours are on "  \
             "different servers; or at random (seeded). `ranks` gives any other"},                 \
    {                                                                                              \
        .name = "stride", .type = PARAM_COUNT, .offset = JP(stride), .def = "auto", .min = "1",    \
        .max = "65536", .can_auto = true,                                                          \
        .help = "mapping strided: places between neighbours; auto = the innermost dimension's "    \
                "size"                                                                             \
    }

static const struct param flows_params[] = {
    COMMON,
    {.name = "file",
     .type = PARAM_TEXT,
     .offset = JP(file),
     .def = "",
     .help = "CSV of src,dst,bytes,start_ns instead of the list `flows`"},
};
static const struct param incast_params[] = {
    COMMON,
    {.name = "receiver",
     .type = PARAM_COUNT,
     .offset = JP(receiver),
     .def = "0",
     .help = "rank that all send to"},
    {.name = "bytes",
     .type = PARAM_BYTES,
     .offset = JP(bytes),
     .min = "1B",
     .max = "1PB",
     .help = "of each sender"},
};
static const struct param permutation_params[] = {
    COMMON,
    {.name = "shift",
     .type = PARAM_COUNT,
     .offset = JP(shift),
     .def = "1",
     .help = "rank i sends to rank i + shift, modulo the ranks"},
    {.name = "bytes",
     .type = PARAM_BYTES,
     .offset = JP(bytes),
     .min = "1B",
     .max = "1PB",
     .help = "of each rank"},
};
static const struct param collective_params[] = {
    COMMON,
    {.name = "op",
     .type = PARAM_ENUM,
     .offset = JP(op),
     .choices = ops,
     .help = "collective operation"},
    {.name = "bytes",
     .type = PARAM_BYTES,
     .offset = JP(bytes),
     .def = "0B",
     .max = "1PB",
     .help = "largest per-rank buffer; all but a barrier need it",
     .source = "NCCL tests"},
    {.name = "chunks",
     .type = PARAM_COUNT,
     .offset = JP(chunks),
     .def = "1",
     .min = "1",
     .max = "4096",
     .help = "pieces that go through the phases one by one"},
    {.name = "active_chunks",
     .type = PARAM_COUNT,
     .offset = JP(active_chunks),
     .def = "auto",
     .min = "1",
     .max = "4096",
     .can_auto = true,
     .help = "that a dimension runs at once; auto = all where one algorithm is flat over all "
             "ranks, 1 where each dimension has its own",
     .source = "ASTRA-sim: active-chunks-per-dimension"},
    {.name = "order",
     .type = PARAM_ENUM,
     .offset = JP(order),
     .choices = orders,
     .def = "fifo",
     .help = "of chunks that wait for a dimension: as they came, the latest first, or the smallest",
     .source = "Rashidi et al., ISPASS 2020; ISCA 2022"},
    {.name = "schedule",
     .type = PARAM_ENUM,
     .offset = JP(schedule),
     .choices = schedules,
     .def = "baseline",
     .help = "over dimensions: a full operation in each (baseline), or reduce-scatter inwards out "
             "and all-gather back (bandwidth_aware), the same from another dimension for every "
             "chunk (round_robin), or from the least loaded one (themis)",
     .source = "Rashidi et al., ISPASS 2020; ISCA 2022"},
    {.name = "repeat",
     .type = PARAM_COUNT,
     .offset = JP(repeat),
     .def = "1",
     .min = "1",
     .max = "1000000",
     .help = "times in a row; a rank starts the next when its own part is done"},
    {.name = "ring_directions",
     .type = PARAM_COUNT,
     .offset = JP(ring_directions),
     .def = "1",
     .min = "1",
     .max = "2",
     .help = "2 = half of the vector each way round the ring"},
    {.name = "in_flight",
     .type = PARAM_COUNT,
     .offset = JP(in_flight),
     .def = "auto",
     .min = "1",
     .max = "65536",
     .can_auto = true,
     .help = "direct: messages of a rank at once; auto = to all others",
     .source = "ASTRA-sim: direct-collective-window"},
    {.name = "pieces",
     .type = PARAM_COUNT,
     .offset = JP(pieces),
     .def = "auto",
     .min = "1",
     .max = "65536",
     .can_auto = true,
     .help = "trees and chains: the vector goes in so many, one behind the other; auto = one in a "
             "tree, as many as ranks along a ring"},
    {.name = "root",
     .type = PARAM_COUNT,
     .offset = JP(root),
     .def = "0",
     .help = "of broadcast, reduce, gather and scatter"},
    {.name = "ranks_per_server",
     .type = PARAM_COUNT,
     .offset = JP(ranks_per_server),
     .def = "auto",
     .min = "1",
     .can_auto = true,
     .help =
         "shifted_halving_doubling: consecutive ranks that share a server; auto = the innermost "
         "dimension, 1 where there is but one"},
    {.name = "channels",
     .type = PARAM_COUNT,
     .offset = JP(channels),
     .def = "1",
     .min = "1",
     .max = "1024",
     .help = "chunks take turns on so many queue pairs of a pair of ranks",
     .source = "NCCL channels"},
    {.name = "endpoint_delay",
     .type = PARAM_TIME,
     .offset = JP(endpoint_ps),
     .def = "0ns",
     .max = "1s",
     .help = "of a rank before the messages of each step, and after the last",
     .source = "ASTRA-sim: endpoint-delay"},
    {.name = "reduce_rate",
     .type = PARAM_RATE,
     .offset = JP(reduce_bps),
     .def = "auto",
     .min = "1Mbps",
     .can_auto = true,
     .help = "at which a rank adds what it receives; auto = at once (over the analytical network: "
             "3 ns per 500 kB of a message)"},
    MAPPING,
};

static const struct param training_params[] = {
    COMMON,
    {.name = "file",
     .type = PARAM_TEXT,
     .offset = JP(file),
     .def = "",
     .help = "text workload of ASTRA-sim instead of `parallelism` and `layers`"},
    {.name = "iterations",
     .type = PARAM_COUNT,
     .offset = JP(iterations),
     .def = "1",
     .min = "1",
     .max = "100000",
     .help = "passes over the training loop"},
    {.name = "compute_scale",
     .type = PARAM_RATIO,
     .offset = JP(compute_scale),
     .def = "1",
     .min = "0",
     .max = "1000000",
     .help = "factor on all compute times, in single precision",
     .source = "ASTRA-sim 1.0"},
    {.name = "comm_scale",
     .type = PARAM_RATIO,
     .offset = JP(comm_scale),
     .def = "1",
     .min = "0",
     .max = "1000000",
     .help = "factor on the bytes of all collectives, in single precision",
     .source = "ASTRA-sim 1.0"},
    {.name = "compute_jitter",
     .type = PARAM_RATIO,
     .offset = JP(compute_jitter),
     .def = "0",
     .min = "0",
     .max = "1",
     .help = "every compute time takes a factor of its own, even in 1 - jitter .. 1 + jitter"},
    MAPPING,
};

static const struct param poisson_params[] = {
    COMMON,
    {.name = "cdf",
     .type = PARAM_TEXT,
     .offset = JP(cdf),
     .help = "file of the distribution of sizes, lines of bytes and percent"},
    {.name = "load",
     .type = PARAM_RATIO,
     .offset = JP(load),
     .min = "0.0001",
     .max = "1",
     .help = "share of each rank's outermost link that its payload takes"},
    {.name = "duration",
     .type = PARAM_TIME,
     .offset = JP(duration_ps),
     .min = "1ns",
     .max = "100000s",
     .help = "in which flows begin"},
};

#define TABLE(t) t, sizeof t / sizeof *t
const struct job_kind_info job_kinds[] = {
    [JOB_FLOWS] = {"flows", "given messages, each on its own queue pair", "", TABLE(flows_params)},
    [JOB_INCAST] = {"incast", "`senders` (count or list) send to one receiver at once", "",
                    TABLE(incast_params)},
    [JOB_PERMUTATION] = {"permutation", "every rank sends to the one `shift` further", "",
                         TABLE(permutation_params)},
    [JOB_COLLECTIVE] = {"collective", "a collective operation by an algorithm, in chunks",
                        "NCCL; Thakur et al. 2005", TABLE(collective_params)},
    [JOB_POISSON] = {"poisson", "flows to random ranks at random times, each on its own queue pair",
                     "Alizadeh et al., SIGCOMM 2013 (pFabric)", TABLE(poisson_params)},
    [JOB_TRAINING] = {"training", "the training loop of a network's layers over all ranks",
                      "ASTRA-sim 1.0 (Rashidi et al., ISPASS 2020)", TABLE(training_params)},
};
