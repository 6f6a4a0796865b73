// SPDX-License-Identifier: MIT
// The kind parameter_server: its settings as a table.
#include "workload/training/parameter_server.h"

static double server_queue_pairs(const struct job_spec *job, bool *listed)
{
    const struct server_settings *settings = job->settings;
    const struct server_params *p = &settings->params;
    double groups = p->groups == PARAM_AUTO ? (double)job->n_ranks : (double)p->groups;
    *listed = false;
    return 2 * groups * (double)p->servers + (double)job->n_ranks;
}

static const char *const modes[] = {"sync", "async", "stale", NULL};

#define AT(member) offsetof(struct server_settings, params.member)
static const struct param server_rows[] = {
    {.name = "servers",
     .type = PARAM_COUNT,
     .offset = AT(servers),
     .def = "1",
     .min = "1",
     .max = "65536",
     .help = "the job's last ranks, each with an equal part of the parameters",
     .source = "Li et al., OSDI 2014"},
    {.name = "groups",
     .type = PARAM_COUNT,
     .offset = AT(groups),
     .def = "auto",
     .min = "1",
     .max = "262144",
     .can_auto = true,
     .help = "of workers: synchronous inside, by collectives; auto = every worker is one",
     .source = "Kurth et al., SC 2017"},
    {.name = "mode",
     .type = PARAM_ENUM,
     .offset = AT(mode),
     .choices = modes,
     .def = "sync",
     .help = "a server answers: when all groups' updates have been applied; at once; or when no "
             "group is more than `staleness` iterations behind",
     .source = "Ho et al., NIPS 2013"},
    {.name = "staleness",
     .type = PARAM_COUNT,
     .offset = AT(staleness),
     .def = "0",
     .max = "1000000",
     .help = "mode stale: iterations that a group may be ahead of the slowest",
     .source = "Ho et al., NIPS 2013"},
    {.name = "bytes",
     .type = PARAM_BYTES,
     .offset = AT(bytes),
     .min = "1B",
     .max = "1TB",
     .help = "of the gradients, and of the parameters"},
    {.name = "iterations",
     .type = PARAM_COUNT,
     .offset = AT(iterations),
     .def = "10",
     .min = "1",
     .max = "1000000",
     .help = "of every group"},
    {.name = "compute",
     .type = PARAM_TIME,
     .offset = AT(compute_ps),
     .def = "0ns",
     .max = "1000s",
     .help = "of a worker in an iteration"},
    {.name = "jitter",
     .type = PARAM_RATIO,
     .offset = AT(jitter),
     .def = "0",
     .min = "0",
     .max = "1",
     .help = "compute times vary by up to this share each way, uniformly (seeded)"},
    {.name = "spread",
     .type = PARAM_RATIO,
     .offset = AT(spread),
     .def = "0",
     .min = "0",
     .max = "100",
     .help = "a worker is slower than `compute` by up to this share, the same in all iterations "
             "(seeded)"},
    {.name = "update_rate",
     .type = PARAM_RATE,
     .offset = AT(update_bps),
     .def = "auto",
     .min = "1Mbps",
     .can_auto = true,
     .help = "at which a server applies a gradient, one after the other; auto = at once"},
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
    .queue_pairs = server_queue_pairs,
};
