// SPDX-License-Identifier: MIT
// Settings of the job kind; the nodes are the set's.
#include "workload/chakra/chakra_job.h"

#include "collective/rendezvous.h"
#include "workload/nodes/node_run.h"
#include "workload/workload.h"

#define FIELD(name) offsetof(struct chakra_params, name)

static const char *const orders[] = {"program", "ready", "auto", NULL}; // enum program_order

static const char *const missing_words[] = {"error", "ignore", NULL};

static const struct param chakra_params[] = {
    PARAM_ROW("prefix", TEXT, FIELD(prefix),
              .help = "of the files: rank N has PREFIX.N.et, or PREFIX.N.et.gz"),
    PARAM_ROW("comm_groups", TEXT, FIELD(comm_groups), .def = "",
              .help = "file of communicators, {\"1\": [0, 1]}; nodes name them in pg_name"),
    PARAM_ROW("order", ENUM, FIELD(order), .choices = orders, .def = "auto",
              .help = "of the nodes of a stream: as in the file, or the ready node of the "
                      "highest priority, then of the smallest id; auto = ready, unless the "
                      "traces are exported ones that say otherwise"),
    PARAM_ROW("missing_nodes", ENUM, FIELD(missing), .choices = missing_words, .def = "error",
              .help = "what a dependency on a node is that the file does not have: traces of real "
                      "programs are often parts of them"),
    PARAM_ROW("comm_streams", COUNT, FIELD(comm_streams), .def = "1", .min = "1", .max = "32",
              .help = "communication streams of a rank; a communicator always uses the same one"),
    PARAM_ROW("window", COUNT, FIELD(window), .def = "auto", .min = "1", .max = "100000000",
              .can_auto = true,
              .help = "nodes of a rank that are read ahead of those that have ended; auto = some "
                      "1.5 million for all ranks together"),
    PARAM_ROW("peak_tflops", RATIO, FIELD(peak_tflops), .def = "0", .min = "0", .max = "1000000000",
              .help = "10^12 operations a second: computations take what a roofline of num_ops "
                      "and tensor_size says; 0 = their duration",
              .source = "Williams, Waterman & Patterson, CACM 52 (2009)"),
    PARAM_ROW("memory_bandwidth", RATIO, FIELD(memory_gbps), .def = "0", .min = "0",
              .max = "1000000", .help = "GB/s of a GPU's memory, for the roofline; 0 = infinite"),
    PARAM_ROW("remote_latency", TIME, FIELD(remote_latency_ps), .def = "0ns", .min = "0ns",
              .max = "1s", .help = "of loads and stores of remote memory"),
    PARAM_ROW("remote_bandwidth", RATE, FIELD(remote_bps), .def = "auto", .min = "1Mbps",
              .can_auto = true,
              .help = "the same; auto = there is no remote memory, and such nodes are errors"),
    PARAM_ROW(
        "remote_share", COUNT, FIELD(remote_share), .def = "1", .min = "1", .max = "262144",
        .help =
            "neighbouring ranks that share a remote memory, which serves one load or store at a "
            "time"),
    GROUP_ROWS(struct chakra_params, group),
    CONTENTION_ROWS(struct chakra_params, contention),
    MAPPING_ROWS(struct chakra_params, mapping),
};

static void free_settings(void *settings)
{
    struct chakra_settings *s = settings;
    node_program_free(&s->program);
    trace_set_free(&s->set);
}

static const struct node_program *nodes(const struct job_spec *job)
{
    const struct chakra_settings *s = job->settings;
    return &s->program;
}

static void *chakra_new(struct job_run *job)
{
    const struct chakra_params *params =
        &((const struct chakra_settings *)job->spec->settings)->params;
    job->contention = params->contention;
    if (((const struct chakra_settings *)job->spec->settings)->rendezvous)
        rendezvous_begin(&job->comm);
    if (params->remote_share > 1) // ranks share the remote memory
        job->workload->takes_order = true;
    return node_run_new(job);
}

const struct job_kind chakra_kind = {
    .name = "chakra",
    .doc = "execution traces of MLCommons Chakra, one for each rank",
    .source = "Sridharan et al., arXiv 2305.14516 (2023)",
    .params = chakra_params,
    .n_params = sizeof chakra_params / sizeof *chakra_params,
    .settings_bytes = sizeof(struct chakra_settings),
    .free_settings = free_settings,
    .program = &node_run_ops,
    .new = chakra_new,
    .nodes = nodes,
};
