// SPDX-License-Identifier: MIT
// A kind of job as an example for newcomers: ranks 0 and 1, 2 and 3, .. are pairs; the first rank
// of a pair sends `rounds` messages to the second, which computes between them.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "workload/workload.h"

struct pairwise_settings {
    uint64_t bytes, rounds;
    ps_t compute_ps;
};

static const struct param pairwise_params[] = {
    PARAM_ROW("bytes", BYTES, offsetof(struct pairwise_settings, bytes), .min = "1B", .max = "1PB",
              .help = "of each message"),
    PARAM_ROW("rounds", COUNT, offsetof(struct pairwise_settings, rounds), .def = "2", .min = "1",
              .help = "messages of a pair"),
    PARAM_ROW("compute", TIME, offsetof(struct pairwise_settings, compute_ps), .def = "5us",
              .max = "1s",
              .help = "of the receiver after each message, before it replies with one byte"),
};

struct pairwise_program {
    const struct pairwise_settings *settings;
    uint32_t n_ranks;
    uint64_t *done; // [rank] number of steps returned
};

static void *pairwise_new(struct job_run *job)
{
    struct pairwise_program *p = memory_zeroed(1, sizeof *p);
    p->settings = job->spec->settings;
    p->n_ranks = job->n_ranks;
    p->done = memory_zeroed(job->n_ranks, sizeof *p->done);
    return p;
}

static void pairwise_free(void *self)
{
    struct pairwise_program *p = self;
    free(p->done);
    free(p);
}

// The sender: send, receive the reply; the receiver: receive, compute, send the reply.
static enum program_state pairwise_next(void *self, uint32_t rank, ps_t now, struct step *step)
{
    struct pairwise_program *p = self;
    uint32_t peer = rank ^ 1, kinds = rank % 2 == 0 ? 2 : 3;
    (void)now;
    if (peer >= p->n_ranks || p->done[rank] == kinds * p->settings->rounds)
        return PROGRAM_END;
    uint64_t at = p->done[rank]++ % kinds;
    *step = (struct step){.blocks = true, .peer = peer, .takes_ps = p->settings->compute_ps};
    if (rank % 2 == 0)
        step->kind = at == 0 ? STEP_SEND : STEP_RECV;
    else
        step->kind = at == 0 ? STEP_RECV : at == 1 ? STEP_COMPUTE : STEP_SEND;
    step->bytes = rank % 2 == 0 ? p->settings->bytes : 1;
    return PROGRAM_STEP;
}

static uint64_t pairwise_bytes(const void *self)
{
    const struct pairwise_program *p = self;
    return p->n_ranks / 2 * p->settings->rounds * (p->settings->bytes + 1);
}

static const struct program_ops pairwise_program = {
    .next = pairwise_next,
    .bytes = pairwise_bytes,
    .free = pairwise_free,
};

const struct job_kind pairwise_kind = {
    .name = "pairwise",
    .doc = "pairs of ranks: messages, and a computation between",
    .source = "",
    .params = pairwise_params,
    .n_params = sizeof pairwise_params / sizeof *pairwise_params,
    .settings_bytes = sizeof(struct pairwise_settings),
    .program = &pairwise_program,
    .new = pairwise_new,
};
