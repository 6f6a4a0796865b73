// SPDX-License-Identifier: MIT
// Causes that are other jobs: which job sent most through a port that another job waits for.
//
// The bytes that the connections of each job have delivered are spread over their shortest paths.
// A job may delay another at a port that both use, or where PFC began that stopped the other. How
// much it does only a run without it tells.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "sim/explain/explain_internal.h"
#include "sim/ideal/ideal_contention.h"

#define OTHERS_MAX 8    // jobs that are named
#define FIRST 0.5       // share of the time as which any other job is ordered, at least
#define SHARES_MIN 0.01 // of the waiting job's time: less does not delay it

// [job * n_ports + port] time that the bytes of each job transmit.
static double *loads_of_jobs(const struct explain_facts *facts, const struct result *r)
{
    const struct fabric *fabric = facts->fabric;
    double *loads = memory_zeroed(fabric->spec->n_jobs * r->n_ports, sizeof *loads);
    for (uint32_t i = 0; i < fabric->hosts.flows.n; i++) {
        uint32_t flow = fabric->flow_order[i]; // sums in the order of numbers: handles may differ
        const struct flow_id *id = &fabric->hosts.flows.ids[flow];
        uint64_t bytes = fabric->hosts.senders[flow]->una_bytes;
        if (bytes > 0 && id->src < fabric->graph.n_ranks && id->dst < fabric->graph.n_ranks)
            ideal_add_message(facts->ideals, id->src, id->dst, id->transport, (double)bytes,
                              &loads[id->job * r->n_ports]);
    }
    return loads;
}

// What one job may cost another.
struct blame {
    const struct slowest_result *victim; // NULL = it delays nobody
    uint32_t port;
    double busy_ps; // of the other job there
    double share;   // of the victim's time, at most
};

// The port at which a job with these loads keeps the victim waiting longest.
static struct blame blame_for(const struct result *r, const struct slowest_result *victim,
                              const double *own, const double *other, const bool *roots)
{
    struct blame worst = {0};
    double total = (double)victim->critical.total_ps,
           waits = (double)critical_sum_ps(&victim->critical, CAUSES_OF_OTHERS | CAUSES_OF_LOSS);
    for (size_t p = 0; p < r->n_ports; p++)
        if (other[p] > worst.busy_ps && (own[p] > 0 || roots[p]))
            worst = (struct blame){victim, (uint32_t)p, other[p], 0};
    double most = worst.busy_ps < waits ? worst.busy_ps : waits;
    worst.share = most < total ? most / total : 1;
    return worst;
}

static const char *name_of(const struct spec *spec, uint32_t job, char text[32])
{
    snprintf(text, 32, "%u", job);
    return spec->jobs[job].name ? spec->jobs[job].name : text;
}

static void explain_blame(const struct fabric *fabric, struct result *r, uint32_t job,
                          const struct blame *blame)
{
    const struct spec *spec = fabric->spec;
    char port[2 * GRAPH_NAME], busy[UNIT_TEXT], number[32], whom[32], change[64];
    const char *who = name_of(spec, job, number);
    snprintf(change, sizeof change, "without job %.40s", who);
    // Who delays whom is the first question where there are several jobs.
    double saving = (FIRST + (1 - FIRST) * blame->share) * (double)r->last->critical.total_ps;
    struct reason_result *reason =
        result_cause(r, REASON_JOB, (ps_t)saving,
                     text_format("job %s sent for %s through %s, which job %s uses", who,
                                 human_time((ps_t)blame->busy_ps, busy),
                                 graph_port_name(&fabric->graph, blame->port, port),
                                 name_of(spec, blame->victim->job, whom)),
                     change);
    reason->saving_ps = (ps_t)(blame->share * (double)blame->victim->critical.total_ps);
    reason->job = blame->victim->job;
    reason->at = text_format("%s", port);
    char *key = job_key(fabric, job, "");
    reason_set(reason, "%s=null", key);
    free(key);
}

void explain_jobs(const struct explain_facts *facts, struct result *r)
{
    const struct fabric *fabric = facts->fabric;
    uint32_t n = (uint32_t)fabric->spec->n_jobs;
    if (n < 2 || !result_has_path(r))
        return;
    double *loads = loads_of_jobs(facts, r);
    bool *roots = fabric_pfc_roots(fabric);
    for (uint32_t job = 0, said = 0; job < n && said < OTHERS_MAX; job++) {
        struct blame worst = {0};
        for (size_t i = 0; i < r->n_slowest; i++) {
            const struct slowest_result *victim = &r->slowest[i];
            if (victim->job == job || !victim->critical.known || victim->critical.total_ps <= 0)
                continue;
            struct blame one = blame_for(r, victim, &loads[victim->job * r->n_ports],
                                         &loads[job * r->n_ports], roots);
            worst = one.share > worst.share ? one : worst;
        }
        if (worst.share < SHARES_MIN)
            continue;
        explain_blame(fabric, r, job, &worst);
        said++;
    }
    free(roots);
    free(loads);
}
