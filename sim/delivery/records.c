// SPDX-License-Identifier: MIT
// The records of messages that have ended, and statistics over them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "sim/delivery/delivery_internal.h"

#define SAMPLES_KEPT 10000 // percentiles of more messages are accurate within 0.1 %

void records_init(struct delivery *delivery)
{
    struct records *r = &delivery->records;
    const struct spec *spec = delivery->fabric->spec;
    size_t exact = (size_t)spec->report.flows_max;
    r->job_stats = memory_zeroed(spec->n_jobs, sizeof *r->job_stats);
    for (size_t j = 0; j < spec->n_jobs; j++)
        r->job_stats[j].fct_ns.limit = r->job_stats[j].slowdown.limit = SAMPLES_KEPT;
    r->stats.fct_ns.limit = r->stats.slowdown.limit = exact;
    r->stats.ranks = memory_zeroed(delivery->fabric->graph.n_ends, sizeof *r->stats.ranks);
}

void records_free(struct delivery *delivery)
{
    struct records *r = &delivery->records;
    for (size_t j = 0; r->job_stats && j < delivery->fabric->spec->n_jobs; j++) {
        distribution_free(&r->job_stats[j].fct_ns);
        distribution_free(&r->job_stats[j].slowdown);
    }
    free(r->job_stats);
    distribution_free(&r->stats.fct_ns);
    distribution_free(&r->stats.slowdown);
    free(r->stats.ranks);
    free(r->flows);
}

static void jobs_record(struct delivery *delivery, const struct flow_record *record)
{
    struct job_stats *job = &delivery->records.job_stats[record->job];
    job->bytes += record->bytes;
    job->failed += record->status == MESSAGE_FAILED;
    job->running += record->status == MESSAGE_RUNNING;
    if (record->status != MESSAGE_DONE)
        return;
    ps_t end = record->start_ps + record->fct_ps;
    job->end_ps = end > job->end_ps ? end : job->end_ps;
    if (delivery->fabric->spec->n_jobs == 1)
        return; // the statistics of the run are the job's
    distribution_add(&job->fct_ns, (double)ns_of_ps(record->fct_ps));
    if (record->fct_ps > 0 && record->ideal_ps > 0) {
        double slowdown = (double)record->fct_ps / (double)record->ideal_ps;
        distribution_add(&job->slowdown, slowdown);
        job->slowdown_millionths += (ps_t)llround(slowdown * 1e6);
    }
}

static ps_t later(ps_t a, ps_t b) // -1 = never
{
    return a < 0 || b < 0 ? -1 : a > b ? a : b;
}

void record_merge(struct flow_record *whole, struct flow_record *part, ps_t shift_ps)
{
    // The times of a part count from its own post, and those of the record from the message's post.
    // Between the two, the part waited for permission to be sent, which is accounted as window.
    part->fct_ps += part->fct_ps >= 0 ? shift_ps : 0;
    part->life_ps[PATH_WINDOW] += part->delivered_ps >= 0 ? shift_ps : 0;
    part->delivered_ps += part->delivered_ps >= 0 ? shift_ps : 0;
    if (part->delivered_ps > whole->delivered_ps) // the part that is delivered last counts
        memcpy(whole->life_ps, part->life_ps, sizeof whole->life_ps);
    whole->bytes += part->bytes;
    whole->delivered_bytes += part->delivered_bytes;
    whole->packets += part->packets;
    whole->retransmitted += part->retransmitted;
    whole->cnps += part->cnps;
    whole->timeouts += part->timeouts;
    whole->fct_ps = later(whole->fct_ps, part->fct_ps);
    whole->delivered_ps = later(whole->delivered_ps, part->delivered_ps);
    // A message over several connections is listed with the lowest number, so that the choice does
    // not depend on which part ended first.
    whole->qp = part->qp < whole->qp ? part->qp : whole->qp;
    // Failed outweighs running, and running outweighs done: a message is done when all parts are.
    if (part->status == MESSAGE_FAILED || whole->status == MESSAGE_DONE)
        whole->status = part->status;
}

static void keep_stats(struct delivery *delivery, const struct flow_record *f)
{
    struct message_stats *s = &delivery->records.stats;
    struct rank_sums *sums = &s->ranks[f->src];
    distribution_add(&s->fct_ns, (double)ns_of_ps(f->fct_ps));
    if (f->fct_ps == 0) // in closed form and without latency
        return;
    double goodput = (double)f->bytes / (double)f->fct_ps;
    if (f->ideal_ps > 0) {
        double slowdown = (double)f->fct_ps / (double)f->ideal_ps;
        distribution_add(&s->slowdown, slowdown);
        sums->slowdown += slowdown;
    }
    sums->goodput += goodput;
    sums->goodput_square += goodput * goodput;
}

void records_put(struct delivery *delivery, const struct flow_record *record)
{
    jobs_record(delivery, record);
    if (record->status == MESSAGE_DONE)
        keep_stats(delivery, record);
    else if (record->status == MESSAGE_FAILED)
        delivery->records.failed++;
    else
        delivery->records.running++;
    if (delivery->records.n_flows >= delivery->fabric->spec->report.flows_max) {
        if (record->status == MESSAGE_DONE || delivery->records.n_unlisted == RESULT_WAITING_MAX)
            return;
        // Completed messages beyond the limit are only counted. Those that failed or still run are
        // listed nevertheless, since explanations name them as the reason for the end of the run.
        delivery->records.n_unlisted++;
    }
    if (delivery->records.n_flows == delivery->records.cap_flows)
        delivery->records.flows = memory_grow(delivery->records.flows, &delivery->records.cap_flows,
                                              sizeof *delivery->records.flows);
    delivery->records.flows[delivery->records.n_flows++] = *record;
}

static void keep_record(void *ctx, const void *note, ps_t now)
{
    (void)now;
    records_put(ctx, note);
}

void records_keep(struct delivery *delivery, const struct flow_record *record)
{
    engine_defer(&delivery->fabric->engine, keep_record, delivery, record, sizeof *record);
}
