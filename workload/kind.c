// SPDX-License-Identifier: MIT
// Functions and keys that all kinds of jobs share.
#include "workload/kind.h"

#include <stdlib.h>

#include "engine/base/memory.h"

const struct param job_params[] = {
    PARAM_ROW("start", TIME, offsetof(struct job_spec, start_ps), .def = "0ns", .min = "0ns",
              .max = "100000s", .help = "simulated time at which the job starts"),
    PARAM_ROW("class", COUNT, offsetof(struct job_spec, cls), .def = "auto", .max = "5",
              .can_auto = true,
              .help = "traffic class of its data; auto = 3 for RoCE, 0 for TCP; 6 is for "
                      "control, 7 is reserved",
              .source = "IEEE 802.1Q priority; DSCP 26 for class 3, else 8 * class (RFC 2474)"),
    PARAM_ROW("transport", TEXT, offsetof(struct job_spec, transport_name), .def = "",
              .help = "kind of transport that carries its data, where there are several; the "
                      "first unless given"),
    PARAM_ROW("name", TEXT, offsetof(struct job_spec, name), .def = "", .help = "for reports"),
    PARAM_ROW("shrunk", TEXT, offsetof(struct job_spec, shrunk), .def = "",
              .help = "what `collwire shrink` has left out of the job: its tokens/s and MFU are "
                      "those of the smaller one, and results say so"),
};
const size_t n_job_params = sizeof job_params / sizeof *job_params;

const char *const job_mappings[] = {"local", "strided", "random", NULL};

void *job_settings_new(const struct job_kind *kind)
{
    void *settings = memory_zeroed(1, kind->settings_bytes);
    params_default(kind->params, kind->n_params, settings);
    return settings;
}

void job_free(struct job_spec *job)
{
    if (job->settings != NULL && job->kind->free_settings != NULL)
        job->kind->free_settings(job->settings);
    free(job->settings);
    free(job->ranks);
}

uint32_t job_rank(const struct job_spec *job, uint32_t i) { return job->ranks ? job->ranks[i] : i; }

uint32_t job_n_ranks(const struct job_spec *job, uint32_t n_ranks)
{
    return job->ranks ? (uint32_t)job->n_ranks : n_ranks;
}
