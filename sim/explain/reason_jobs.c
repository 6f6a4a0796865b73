// SPDX-License-Identifier: MIT
// Sentences about jobs that delay each other: which job filled which port while another waited.
//
// The messages of each job, as far as they overlap in time with the path of what ended last in the
// job that waited, are spread over their shortest paths. To blame is the job with the most
// transmission time at a port that the waiting job also uses, or where PFC began that stopped it.
// Unless its policy has cut it, the job has not waited longer than for these transmissions; it is
// not faster than alone.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "sim/explain/explain_internal.h"
#include "sim/ideal/ideal_contention.h"

#define VICTIMS_MAX 8
#define CUT 0.1     // of the waits: a policy may cost a job more than the other job's bytes
#define DELAYS 0.08 // share of the waiting job's time from which its delay is stated
#define FILLS 0.1   // share of the waiting job's time from which another job's bytes fill a port

// The share of the time between a message's post and its end that is within the time of a path.
static double overlap(const struct flow_record *f, const struct slowest_result *path)
{
    ps_t end = f->fct_ps >= 0 && f->status == MESSAGE_DONE ? f->start_ps + f->fct_ps : path->end_ps;
    ps_t from = f->start_ps > path->begin_ps ? f->start_ps : path->begin_ps,
         to = end < path->end_ps ? end : path->end_ps;
    if (to <= from)
        return 0;
    return end == f->start_ps ? 1 : (double)(to - from) / (double)(end - f->start_ps);
}

// [job * n_ports + port] time that the messages of each job transmit during the path.
static double *loads_during(const struct explain_facts *facts, const struct result *r,
                            const struct slowest_result *path)
{
    const struct spec *spec = facts->fabric->spec;
    size_t ports = r->n_ports;
    double *loads = memory_zeroed(spec->n_jobs * ports, sizeof *loads);
    for (size_t i = 0; i < r->n_flows; i++) {
        const struct flow_record *f = &r->flows[i];
        double bytes = overlap(f, path) * (double)f->bytes;
        if (bytes >= 1)
            ideal_add_message(facts->ideals, f->src, f->dst, spec->jobs[f->job].transport, bytes,
                              &loads[f->job * ports]);
    }
    return loads;
}

struct blame {
    uint32_t job, port;
    double busy_ps; // of the other job there, as far as the victim's own bytes leave time for it
};

static bool leads_to_rank(const struct fabric *fabric, uint32_t port)
{
    return fabric_peer_node(fabric, port) < fabric->graph.n_ranks;
}

// [port] true where the path of what waited may have been: for a flow its own shortest paths, else
// wherever its job sent.
static bool *used_ports(const struct explain_facts *facts, const struct result *r,
                        const struct slowest_result *victim, const double *own)
{
    bool *used = memory_zeroed(r->n_ports, sizeof *used);
    double *path = memory_zeroed(r->n_ports, sizeof *path);
    for (size_t i = 0; i < r->n_flows && victim->kind == SLOWEST_FLOW; i++) {
        const struct flow_record *f = &r->flows[i];
        if (f->job == victim->job && f->start_ps == victim->begin_ps &&
            f->start_ps + f->fct_ps == victim->end_ps)
            ideal_add_message(facts->ideals, f->src, f->dst,
                              facts->fabric->spec->jobs[f->job].transport, 1, path);
    }
    for (size_t p = 0; p < r->n_ports; p++)
        used[p] = victim->kind == SLOWEST_FLOW ? path[p] > 0 : own[p] > 0;
    free(path);
    return used;
}

static struct blame find_blame(const struct explain_facts *facts, const struct result *r,
                               const struct slowest_result *victim, const double *loads)
{
    struct blame worst = {0};
    bool *roots = fabric_pfc_roots(facts->fabric);
    bool *used = used_ports(facts, r, victim, &loads[victim->job * r->n_ports]);
    for (uint32_t job = 0; job < facts->fabric->spec->n_jobs; job++)
        for (uint32_t p = 0; p < r->n_ports && job != victim->job; p++) {
            double busy = loads[job * r->n_ports + p], own = loads[victim->job * r->n_ports + p];
            double room = (double)victim->critical.total_ps - own;
            bool chosen = leads_to_rank(facts->fabric, p); // else flows may have met there
            busy = chosen && busy > room ? room : busy;
            if (busy > worst.busy_ps && (used[p] || roots[p]))
                worst = (struct blame){job, p, busy};
        }
    free(roots);
    free(used);
    return worst;
}

// The time of the link that the job alone uses longest: of its messages, spread evenly; of raw
// flows, which may have met on a path, what ports transmitted without the messages of other jobs.
static ps_t fullest_ps(const struct result *r, const double *loads, uint32_t n_jobs,
                       const struct slowest_result *victim)
{
    uint32_t job = victim->job;
    bool flows = victim->kind == SLOWEST_FLOW;
    double most = 0;
    for (size_t p = 0; p < r->n_ports; p++) {
        double busy = (double)result_busy_ps(r, &r->ports[p]), spread = loads[job * r->n_ports + p];
        for (uint32_t j = 0; j < n_jobs && flows && spread > 0; j++)
            busy -= j == job ? 0 : loads[j * r->n_ports + p];
        most = flows && spread > 0 && busy > most ? busy : most;
        most = spread > most ? spread : most;
    }
    return (ps_t)most;
}

static const char *name_of(const struct spec *spec, uint32_t job, char text[32])
{
    snprintf(text, 32, "%u", job);
    return spec->jobs[job].name ? spec->jobs[job].name : text;
}

static void explain_victim(const struct explain_facts *facts, struct result *r,
                           const struct slowest_result *victim)
{
    const struct fabric *fabric = facts->fabric;
    const struct spec *spec = fabric->spec;
    const ps_t *parts = victim->critical.parts;
    double *loads = loads_during(facts, r, victim);
    struct blame blame = find_blame(facts, r, victim, loads);
    ps_t saving = critical_sum_ps(&victim->critical, CAUSES_OF_OTHERS | CAUSES_OF_LOSS),
         total = victim->critical.total_ps, alone = explain_alone_ps(facts, victim, false),
         least = fullest_ps(r, loads, (uint32_t)spec->n_jobs, victim);
    least = least < total ? least : total;
    bool closed = alone >= least;
    alone = closed ? alone : least;
    free(loads);
    bool bound = !closed || saving < total - alone;
    saving = total - alone < saving ? total - alone : saving;
    bool known = true, cut = (double)(parts[PATH_PACE] + parts[PATH_WINDOW]) > CUT * (double)saving;
    if ((!cut || r->n_tcp > 0) && leads_to_rank(fabric, blame.port) &&
        blame.busy_ps < (double)saving) {
        saving = (ps_t)blame.busy_ps;
        bound = r->n_tcp > 0;
        known = closed; // raw flows may have met elsewhere, too
    }
    if (blame.busy_ps < FILLS * (double)total || (double)saving < DELAYS * (double)total)
        return;
    char port[2 * GRAPH_NAME], less[UNIT_TEXT], busy[UNIT_TEXT], who[32], whom[32],
        saved[2 * UNIT_TEXT] = "";
    if (known)
        snprintf(saved, sizeof saved, " %s%s", bound ? "up to " : "", human_time(saving, less));
    struct reason_result *reason = result_saving_of(
        r, victim, REASON_JOB, saving, 1,
        text_format("job %s filled %s, for %s of the time of %s: without it %s takes%s less",
                    name_of(spec, blame.job, who),
                    graph_port_name(&fabric->graph, blame.port, port),
                    human_time(blame.busy_ps < (double)total ? (ps_t)blame.busy_ps : total, busy),
                    name_of(spec, victim->job, whom), name_of(spec, victim->job, whom), saved));
    reason->bound = bound;
    if (!known)
        reason->saving_ps = -1;
    char *key = job_key(fabric, blame.job, "");
    reason_remedy(reason, "%s=null", key);
    free(key);
}

void explain_jobs(const struct explain_facts *facts, struct result *r)
{
    for (size_t i = 0; i < r->n_slowest && i < VICTIMS_MAX && facts->fabric->spec->n_jobs > 1; i++)
        if (r->slowest[i].critical.known && r->slowest[i].critical.total_ps > 0)
            explain_victim(facts, r, &r->slowest[i]);
}
