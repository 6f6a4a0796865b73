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

static const char *const ops[] = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all", NULL};

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
     .min = "1B",
     .max = "1PB",
     .help = "largest per-rank buffer",
     .source = "NCCL tests"},
    {.name = "chunks",
     .type = PARAM_COUNT,
     .offset = JP(chunks),
     .def = "1",
     .min = "1",
     .max = "4096",
     .help = "pieces that run the algorithm independently"},
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
};
