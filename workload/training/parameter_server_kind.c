// SPDX-License-Identifier: MIT
// The kind parameter_server: its settings as a table.
#include "workload/training/parameter_server.h"

#include "collective/traffic.h"

static void server_traffic(const struct job_spec *job, struct comm_traffic *t)
{
    const struct server_settings *settings = job->settings;
    const struct server_params *p = &settings->params;
    double groups = p->groups == PARAM_AUTO ? (double)job->n_ranks : (double)p->groups;
    t->pairs = 2 * groups * (double)p->servers + (double)job->n_ranks;
}

static const char *const modes[] = {"sync", "async", "stale", NULL};

#define AT(member) offsetof(struct server_settings, params.member)
static const struct param server_rows[] = {
    PARAM_ROW("servers", COUNT, AT(servers), .def = "1", .min = "1", .max = "262144",
              .help = "the job's last ranks, each with an equal part of the parameters",
              .source = "Li et al., OSDI 2014"),
    PARAM_ROW("groups", COUNT, AT(groups), .def = "auto", .min = "1", .max = "262144",
              .can_auto = true,
              .help = "of workers: synchronous inside, by collectives; auto = every worker is "
                      "one",
              .source = "Kurth et al., SC 2017"),
    PARAM_ROW("mode", ENUM, AT(mode), .choices = modes, .def = "sync",
              .help = "a server answers: when all groups' updates have been applied; at once; "
                      "or when no group is more than `staleness` iterations behind",
              .source = "Ho et al., NIPS 2013"),
    PARAM_ROW("staleness", COUNT, AT(staleness), .def = "0", .max = "1000000",
              .help = "mode stale: iterations that a group may be ahead of the slowest",
              .source = "Ho et al., NIPS 2013"),
    PARAM_ROW("bytes", BYTES, AT(bytes), .min = "1B", .max = "1TB",
              .help = "of the gradients, and of the parameters"),
    PARAM_ROW("iterations", COUNT, AT(iterations), .def = "10", .min = "1", .max = "1000000",
              .help = "of every group"),
    PARAM_ROW("compute", TIME, AT(compute_ps), .def = "0ns", .max = "1000s",
              .help = "of a worker in an iteration"),
    PARAM_ROW("jitter", RATIO, AT(jitter), .def = "0", .min = "0", .max = "1",
              .help = "compute times vary by up to this share each way, uniformly (seeded)"),
    PARAM_ROW("spread", RATIO, AT(spread), .def = "0", .min = "0", .max = "100",
              .help = "a worker is slower than `compute` by up to this share, the same in all "
                      "iterations (seeded)"),
    PARAM_ROW("update_rate", RATE, AT(update_bps), .def = "auto", .min = "1Mbps", .can_auto = true,
              .help = "at which a server applies a gradient, one after the other; auto = at once"),
    GROUP_ROWS(struct server_settings, params.group),
    MAPPING_ROWS(struct server_settings, params.mapping),
};

const struct job_kind parameter_server_kind = {
    .name = "parameter_server",
    .doc = "workers that send gradients to servers and receive parameters, in step or not",
    .source = "Li et al., OSDI 2014; Ho et al., NIPS 2013; Kurth et al., SC 2017",
    .params = server_rows,
    .n_params = sizeof server_rows / sizeof *server_rows,
    .settings_bytes = sizeof(struct server_settings),
    .program = &server_program,
    .new = server_job_new,
    .traffic = server_traffic,
};
