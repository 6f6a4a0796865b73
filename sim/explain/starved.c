// SPDX-License-Identifier: MIT
// A sentence about a message that full queues starve, among equal ones to the same rank.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "sim/explain/explain_internal.h"

#define STARVED 0.1             // of the mean rate of the equal messages
#define BYTES_LEAST (64 * 1024) // of a message whose rate is not that of its latency

// Equal messages of a job to a rank: those as large as the first one.
struct equal {
    uint64_t bytes;
    uint32_t job, n;
    double sum_bps;
};

static double rate_of(const struct result *r, const struct flow_record *f)
{
    ps_t span = f->fct_ps >= 0 ? f->fct_ps : r->sim_time_ps - f->start_ps;
    return span > 0 ? (double)f->delivered_bytes * 8e12 / (double)span : 0;
}

static bool belongs(const struct equal *e, const struct flow_record *f)
{
    return e->bytes == f->bytes && e->job == f->job;
}

static const char *why_of(const struct flow_record *f)
{
    return f->timeouts > 0 ? "it waited for its retransmission timer"
                           : "nothing of it came through after a loss, and its retransmission "
                             "timer has not expired";
}

void explain_starved(const struct fabric *fabric, struct result *r)
{
    struct equal *to = memory_zeroed(fabric->graph.n_ends, sizeof *to);
    const struct flow_record *least = NULL;
    double least_share = STARVED;
    for (size_t i = 0; i < r->n_flows; i++) {
        const struct flow_record *f = &r->flows[i];
        struct equal *e = &to[f->dst];
        if (e->n == 0)
            *e = (struct equal){.bytes = f->bytes, .job = f->job};
        if (!belongs(e, f))
            continue;
        e->n++;
        e->sum_bps += rate_of(r, f);
    }
    for (size_t i = 0; i < r->n_flows; i++) {
        const struct flow_record *f = &r->flows[i];
        const struct equal *e = &to[f->dst];
        if (f->bytes < BYTES_LEAST || !belongs(e, f) || e->n < 2 || e->sum_bps <= 0)
            continue;
        double share = rate_of(r, f) * e->n / e->sum_bps;
        if (share < least_share) {
            least_share = share;
            least = f;
        }
    }
    const struct port_result *most = result_most_dropped(r);
    if (least && most && result_queue_drops(r) > 0) {
        const struct equal *e = &to[least->dst];
        char own[UNIT_TEXT], mean[UNIT_TEXT];
        result_explain(r, EXPLAIN_TIME,
                       text_format("starved: rank%u -> rank%u got %s, where the %u equal messages "
                                   "to this rank got %s in the mean: full queues dropped packets, "
                                   "most at %s, and %s",
                                   least->src, least->dst, human_rate(rate_of(r, least), own), e->n,
                                   human_rate(e->sum_bps / e->n, mean), most->at, why_of(least)));
    }
    free(to);
}
