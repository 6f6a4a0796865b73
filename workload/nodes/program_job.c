// SPDX-License-Identifier: MIT
// The kind `program`. Its nodes are read by workload/nodes/read_program.c.
#include "workload/nodes/program_job.h"

#include "workload/nodes/node_run.h"
#include "workload/workload.h"

static const struct node_program *program_nodes(const struct job_spec *job)
{
    return &((const struct program_settings *)job->settings)->nodes;
}

static void *program_new(struct job_run *job)
{
    job->contention = ((const struct program_settings *)job->spec->settings)->params.contention;
    return node_run_new(job);
}

static void program_free(void *settings)
{
    struct program_settings *s = settings;
    node_program_free(&s->nodes);
    tier_set_free(&s->tiers);
}

static const char *const orders[] = {"program", "ready", NULL};

static const struct param program_params[] = {
    PARAM_ROW("file", TEXT, offsetof(struct program_params, file), .def = "",
              .help = "JSON with `groups` and `nodes`; or a .jsonl file, whose first line has "
                      "the groups and each other line a node"),
    PARAM_ROW(
        "order", ENUM, offsetof(struct program_params, order), .choices = orders, .def = "program",
        .help = "of the nodes of a stream: as the program lists them, like CUDA streams; or the "
                "ready node of the highest priority, then of the smallest id"),
    PARAM_ROW(
        "comm_streams", COUNT, offsetof(struct program_params, comm_streams), .def = "1",
        .min = "1", .max = "32",
        .help = "communication streams of a rank: comm0, comm1, ..; each runs one collective at a "
                "time"),
    PARAM_ROW("copy_rate", RATE, offsetof(struct program_params, copy_bps), .def = "400Gbps",
              .min = "1Mbps", .help = "of memory copies (nodes of kind copy) without tiers"),
    PARAM_ROW("window", COUNT, offsetof(struct program_params, window), .def = "auto", .min = "1",
              .max = "100000000", .can_auto = true,
              .help = "nodes of a rank that are read ahead of those that have ended; auto = "
                      "some 1.5 million for all ranks together"),
    GROUP_ROWS(struct program_params, group),
    CONTENTION_ROWS(struct program_params, contention),
    MAPPING_ROWS(struct program_params, mapping),
};

const struct job_kind program_kind = {
    .name = "program",
    .doc = "nodes that compute, send, receive and communicate, each after some others of its rank",
    .source = "Chakra (Sridharan et al., 2023); GOAL (Hoefler et al., 2009)",
    .params = program_params,
    .n_params = sizeof program_params / sizeof *program_params,
    .settings_bytes = sizeof(struct program_settings),
    .free_settings = program_free,
    .program = &node_run_ops,
    .new = program_new,
    .nodes = program_nodes,
};
