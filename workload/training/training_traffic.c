// SPDX-License-Identifier: MIT
// What a job that trains layer by layer sends, estimated before the run.
#include "collective/algorithm/grid.h"
#include "collective/traffic.h"
#include "workload/training/training_job.h"

void training_traffic(const struct job_spec *job, struct comm_traffic *t)
{
    const struct training_settings *settings = job->settings;
    const struct coll_schedule *s = &settings->schedule;
    uint32_t all = (UINT32_C(1) << s->n_dims) - 1;
    double times = (double)settings->params.iterations;
    bool seen[COLL_OPS] = {false};
    for (size_t l = 0; l < settings->training.n_layers; l++)
        for (int p = 0; p < TRAINING_PARTS; p++) {
            const struct training_step *step = &settings->training.layers[l].parts[p];
            if (step->op == TRAINING_NO_OP)
                continue;
            if (!s->library)
                comm_traffic_collective(t, s, (enum coll_op)step->op, all, step->bytes, times);
            if (!seen[step->op])
                t->pairs += comm_queue_pairs(s, (enum coll_op)step->op, all, step->bytes + 1);
            seen[step->op] = true;
        }
    double most = (double)coll_ranks(s) * (coll_ranks(s) - 1);
    t->pairs = t->pairs < most ? t->pairs : most;
}

double training_collectives(const struct job_spec *job)
{
    const struct training_settings *settings = job->settings;
    double n = 0;
    for (size_t l = 0; l < settings->training.n_layers; l++)
        for (int p = 0; p < TRAINING_PARTS; p++)
            n += settings->training.layers[l].parts[p].op != TRAINING_NO_OP;
    return n * (double)settings->params.iterations;
}
