// SPDX-License-Identifier: MIT
// Makes sentences from the critical path of what ended last: where its time went, which link bounds
// it, what the policy, PFC and timeouts cost it, and which layer of a training job waits.
//
// "Up to" is said where a cause is removed: the path would be shorter by its time, but another path
// may then be the longest. Where one job lasts the whole run and nothing is sent again, no saving
// is stated beyond what the busiest link allows: its bytes take their time whatever the policy.
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "sim/explain/explain_internal.h"
#include "workload/training/training_job.h"

#define PART_MIN 0.05 // share of the time from which a cause is named
#define CAUSES_NAMED 3
#define BUSY 0.85      // use of a link from which it bounds the run
#define STRAGGLER 1.05 // compute time of a rank, by the mean, from which it is named
#define GENTLE 0.9     // a cut to at least this share of line rate or BDP does not count

// Returns the most that the run could save without waits of `cost` on the path.
static ps_t saving_ps(const struct result *r, ps_t cost)
{
    const struct port_result *link = result_busiest_link(r);
    return result_saving_ps(r, cost, link && result_bounded(r) ? result_busy_ps(r, link) : 0);
}

/* ---- where the time went ---- */

// The place where a cause took most time; NULL = none is known.
static const struct critical_place *place_of(const struct critical_result *c, enum path_cause cause)
{
    for (size_t i = 0; i < c->n_places; i++)
        if (c->places[i].cause == cause)
            return &c->places[i];
    return NULL;
}

static enum path_cause largest(const struct critical_result *c, const bool said[PATH_CAUSES])
{
    unsigned best = PATH_CAUSES;
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++)
        if (!said[cause] && (best == PATH_CAUSES || c->parts[cause] > c->parts[best]))
            best = cause;
    return (enum path_cause)best;
}

static const char *phrase(const struct fabric *fabric, enum path_cause cause)
{
    if (fabric_is_analytical(fabric) && cause == PATH_NETWORK)
        return "messages in closed form";
    if (fabric->circuits && cause == PATH_PAUSED)
        return "waiting for light, or stopped by PFC";
    return path_cause_phrase(cause);
}

static void explain_parts(const struct fabric *fabric, struct result *r)
{
    const struct slowest_result *s = r->last;
    const struct job_spec *job = &fabric->spec->jobs[s->job];
    bool said[PATH_CAUSES] = {false};
    bool named_job = fabric->spec->n_jobs > 1 && s->kind == SLOWEST_COLLECTIVE && job->name != NULL;
    char time[UNIT_TEXT];
    struct text text;
    FILE *out = text_open(&text);
    if (s->kind == SLOWEST_FLOW)
        fprintf(out, "the last flow, %s, took %s", s->name, human_time(s->critical.total_ps, time));
    else
        fprintf(out, "%s%s%s took %s", s->name, named_job ? " of job " : "",
                named_job ? job->name : "", human_time(s->critical.total_ps, time));
    for (unsigned i = 0; i < CAUSES_NAMED; i++) {
        enum path_cause cause = largest(&s->critical, said);
        double share = result_share(r, cause);
        if (share < PART_MIN)
            break;
        said[cause] = true;
        const struct critical_place *at = place_of(&s->critical, cause);
        bool named = at &&
                     (cause == PATH_QUEUED || cause == PATH_PAUSED || cause == PATH_CREDIT ||
                      cause == PATH_PACE || cause == PATH_WINDOW || cause == PATH_TIMEOUT ||
                      cause == PATH_ACK_DELAY) &&
                     s->kind != SLOWEST_FLOW;
        fprintf(out, "%s %.0f %% %s%s%s%s", i == 0 ? ":" : ",", 100 * share, phrase(fabric, cause),
                named ? " (most at " : "", named ? at->at : "", named ? ")" : "");
    }
    result_explain(r, EXPLAIN_TIME, text_close(out, &text));
}

/* ---- the bottleneck ---- */

static void explain_bottleneck(struct result *r)
{
    const struct port_result *link = result_busiest_link(r);
    char time[UNIT_TEXT], bound[96] = "";
    if (!link || link->utilization < BUSY)
        return;
    if (result_bounded(r))
        snprintf(bound, sizeof bound, "; on these paths no policy can take less than %s",
                 human_time(result_busy_ps(r, link), time));
    result_explain(r, EXPLAIN_TIME - 1 + link->utilization,
                   text_format("bottleneck: %s transmitted %.0f %% of the time%s%s", link->at,
                               100 * link->utilization,
                               r->retransmitted > 0 ? ", retransmissions included" : "", bound));
}

/* ---- the policy ---- */

// The flow on the path that its policy held back longest, by its window or pace.
static const struct critical_place *held_back(const struct critical_result *c)
{
    const struct critical_place *pace = place_of(c, PATH_PACE), *window = place_of(c, PATH_WINDOW);
    return !pace || (window && window->ps > pace->ps) ? window : pace;
}

// The time that a flow needs to grow back after its last cut, as in "; recovering to the line rate
// in steps of 100 Mb/s every 55 us takes 54 ms"; "" if the policy states no growth.
static void growth_text(const struct sender *s, char *text, size_t size)
{
    const struct sender_cuts *cuts = &sender_rare(s)->cuts;
    const struct cc_env *env = sender_env(s);
    char step[UNIT_TEXT], every[UNIT_TEXT], takes[UNIT_TEXT];
    text[0] = '\0';
    if (!cc_extras_of(s->cc->ops)->growth)
        return;
    struct cc_growth g = cc_extras_of(s->cc->ops)->growth(s->cc);
    uint64_t bdp = cc_bdp_bytes(env);
    if (g.step_bps > 0 && cuts->rate_bps < env->line_bps) {
        ps_t all = (ps_t)((env->line_bps - cuts->rate_bps) / g.step_bps) * g.every_ps;
        snprintf(text, size, "; recovering to the line rate in steps of %s every %s takes %s",
                 human_rate((double)g.step_bps, step), human_time(g.every_ps, every),
                 human_time(all, takes));
    } else if (g.step_bytes > 0 && cuts->window_bytes < bdp) {
        ps_t all = (ps_t)((bdp - cuts->window_bytes) / g.step_bytes) * g.every_ps;
        snprintf(text, size,
                 "; recovering to a window of bandwidth times RTT in steps of %s every %s takes %s",
                 human_bytes(g.step_bytes, step), human_time(g.every_ps, every),
                 human_time(all, takes));
    }
}

static void explain_cuts(struct result *r, const struct sender *s, const char *flow, ps_t saving)
{
    const struct sender_cuts *cuts = &sender_rare(s)->cuts;
    const struct port_result *link = result_busiest_link(r);
    char first[UNIT_TEXT], last[UNIT_TEXT], left[UNIT_TEXT], wait[UNIT_TEXT], growth[256], idle[96];
    char when[96];
    bool paced = cuts->rate_bps < sender_env(s)->line_bps;
    growth_text(s, growth, sizeof growth);
    if (cuts->n == 1)
        snprintf(when, sizeof when, "once, at %s", human_time(cuts->last_ps, last));
    else
        snprintf(when, sizeof when, "%u times between %s and %s", cuts->n,
                 human_time(cuts->first_ps, first), human_time(cuts->last_ps, last));
    idle[0] = '\0';
    if (link && link->utilization < BUSY)
        snprintf(idle, sizeof idle, "; the busiest link was idle %.0f %% of the time",
                 100 * (1 - link->utilization));
    result_reason(r, REASON_CUTS, result_share_of(r, saving), saving,
                  text_format("%s cut %s %s, to %s: without these cuts up to %s shorter%s%s",
                              s->cc->ops->name, flow, when,
                              paced ? human_rate((double)cuts->rate_bps, left)
                                    : human_bytes(cuts->window_bytes, left),
                              human_time(saving, wait), idle, growth));
}

static void explain_window(struct result *r, const struct sender *s,
                           const struct critical_place *flow, ps_t saving)
{
    char window[UNIT_TEXT], bdp[UNIT_TEXT], wait[UNIT_TEXT], less[UNIT_TEXT];
    uint64_t bytes = s->cold.cap_bytes < s->cwnd_bytes ? s->cold.cap_bytes : s->cwnd_bytes;
    if (bytes == CC_UNLIMITED)
        return;
    result_reason(
        r, REASON_WINDOW, result_share_of(r, saving), saving,
        text_format("%s waited %s for its window (%s at the end; %s fill its path): up to %s "
                    "less with a larger one",
                    flow->at, human_time(flow->ps, wait), human_bytes(bytes, window),
                    human_bytes(cc_bdp_bytes(sender_env(s)), bdp), human_time(saving, less)));
}

// Returns true if cuts hold the flow back: the last cut left it well below the line rate, or below
// the window that fills its path.
static bool was_cut(const struct sender *s)
{
    const struct sender_cuts *cuts = &sender_rare(s)->cuts;
    const struct cc_env *env = sender_env(s);
    return cuts->n > 0 && ((double)cuts->rate_bps < GENTLE * (double)env->line_bps ||
                           (double)cuts->window_bytes < GENTLE * (double)cc_bdp_bytes(env));
}

static void explain_policy(const struct fabric *fabric, struct result *r)
{
    const struct critical_place *flow = held_back(&r->last->critical);
    const ps_t *parts = r->last->critical.parts;
    ps_t saving = saving_ps(r, parts[PATH_PACE] + parts[PATH_WINDOW]);
    if (!flow || result_share_of(r, saving) < SAVING_MIN)
        return;
    const struct sender *s = fabric->hosts.senders[fabric->flow_order[flow->index]];
    if (was_cut(s))
        explain_cuts(r, s, flow->at, saving);
    else
        explain_window(r, s, flow, saving);
}

/* ---- acknowledgements ---- */

static void explain_ack_delay(struct result *r)
{
    const struct critical_place *flow = place_of(&r->last->critical, PATH_ACK_DELAY);
    ps_t saving = saving_ps(r, r->last->critical.parts[PATH_ACK_DELAY]);
    char wait[UNIT_TEXT], less[UNIT_TEXT];
    if (!flow || result_share_of(r, saving) < SAVING_MIN)
        return;
    result_reason(
        r, REASON_ACK_DELAY, result_share_of(r, saving), saving,
        text_format(
            "%s waited %s for acknowledgements that the receiver's timer held back: up to %s "
            "less with an ACK for each segment (transport.delayed_ack)",
            flow->at, human_time(flow->ps, wait), human_time(saving, less)));
}

/* ---- timeouts ---- */

static void explain_timeouts(const struct fabric *fabric, struct result *r)
{
    const struct critical_place *flow = place_of(&r->last->critical, PATH_TIMEOUT);
    const ps_t *parts = r->last->critical.parts;
    ps_t saving = saving_ps(r, parts[PATH_TIMEOUT] + parts[PATH_RESENDING]);
    char wait[UNIT_TEXT], total[UNIT_TEXT], less[UNIT_TEXT], of_flow[UNIT_TEXT];
    if (!flow || result_share_of(r, saving) < SAVING_MIN)
        return;
    const struct sender *s = fabric->hosts.senders[fabric->flow_order[flow->index]];
    result_reason(r, REASON_TIMEOUTS, result_share_of(r, saving), saving,
                  text_format("flows on the path waited %s of %s for retransmission timers, %s "
                              "%s (expired %llu time%s): up to %s less with shorter timers",
                              human_time(parts[PATH_TIMEOUT], wait),
                              human_time(r->last->critical.total_ps, total), flow->at,
                              human_time(flow->ps, of_flow), (unsigned long long)s->cold.timeouts,
                              s->cold.timeouts > 1 ? "s" : "", human_time(saving, less)));
}

/* ---- training ---- */

// Returns the longest collective with the name of the layer.
static const struct collective_result *longest_of_layer(const struct result *r, const char *layer)
{
    const struct collective_result *best = NULL;
    for (size_t i = 0; i < r->n_collectives; i++) {
        const struct collective_result *c = &r->collectives[i];
        bool of_layer = c->job == r->last->job && strcmp(c->name, layer) == 0 && c->critical.known;
        if (of_layer && (!best || c->critical.total_ps > best->critical.total_ps))
            best = c;
    }
    return best;
}

// Time for which the ranks of a training job waited for communication, mean over ranks.
static ps_t exposed_ps(const struct result *r, uint32_t job)
{
    for (size_t i = 0; i < r->n_trainings; i++)
        if (r->trainings[i].job == job && r->trainings[i].total_ps >= 0)
            return r->trainings[i].total_ps - r->trainings[i].compute_ps;
    return 0;
}

static void explain_layers(const struct fabric *fabric, struct result *r)
{
    static const char *const parts[] = {"forward collectives", "input gradients",
                                        "weight gradients"};
    const struct slowest_result *s = r->last;
    const struct critical_layer *most = NULL;
    ps_t exposed = exposed_ps(r, s->job);
    char all[UNIT_TEXT], total[UNIT_TEXT], of_layer[UNIT_TEXT];
    for (size_t i = 0; i < s->n_layers; i++)
        if (!most || s->layers[i].comm_ps > most->comm_ps)
            most = &s->layers[i];
    if (!most || most->comm_ps == 0 || exposed <= 0)
        return;
    const struct collective_result *c = longest_of_layer(r, most->name);
    const bool none[PATH_CAUSES] = {[PATH_OTHERS] = true};
    enum path_cause cause = c ? largest(&c->critical, none) : PATH_CAUSES;
    double share = c ? (double)c->critical.parts[cause] / (double)c->critical.total_ps : 0;
    result_reason(
        r, REASON_LAYERS, EXPLAIN_TIME - 1 + (double)exposed / (double)s->critical.total_ps, -1,
        text_format("communication is exposed for %s of %s (mean of the ranks); the %s of %s "
                    "are most of the critical path's, %s%s%s",
                    human_time(exposed, all), human_time(s->critical.total_ps, total),
                    parts[most->part], most->name, human_time(most->comm_ps, of_layer),
                    share >= PART_MIN ? ", mostly " : "",
                    share >= PART_MIN ? phrase(fabric, cause) : ""));
}

// A rank on the path that computed longer than the mean of the ranks: the others waited for it.
static void explain_straggler(const struct workload *workload, struct result *r)
{
    const struct training_job *t = workload->jobs[r->last->job].self;
    const struct critical_place *place = place_of(&r->last->critical, PATH_COMPUTE);
    char slow[UNIT_TEXT], less[UNIT_TEXT];
    double sum = 0, most = 0;
    uint32_t slowest = 0;
    for (uint32_t i = 0; i < t->n_ranks; i++) {
        double compute = (double)t->rank_compute_ps[i];
        sum += compute;
        if (compute > most) {
            most = compute;
            slowest = i;
        }
    }
    double mean = t->n_ranks > 1 ? (sum - most) / (t->n_ranks - 1) : most; // of the others
    uint32_t rank = job_rank(t->job->spec, slowest);
    if (!place || place->index != rank || most < STRAGGLER * mean)
        return;
    ps_t saving = (ps_t)((double)place->ps * (1 - mean / most));
    result_reason(r, REASON_STRAGGLER, EXPLAIN_TIME - 0.01, saving,
                  text_format("rank%u computed for %s, %.2f times the mean of the others, which "
                              "waited for it: up to %s less",
                              rank, human_time((ps_t)most, slow), most / mean,
                              human_time(saving, less)));
}

void explain_time(const struct explain_facts *facts, struct result *r)
{
    const struct fabric *fabric = facts->fabric;
    if (!r->last || r->last->critical.total_ps == 0)
        return;
    explain_parts(fabric, r);
    if (r->last->kind == SLOWEST_TRAINING) {
        explain_straggler(facts->workload, r);
        explain_layers(fabric, r);
    }
    if (r->last->kind == SLOWEST_PROGRAM)
        explain_program(r);
    if (fabric_is_analytical(fabric))
        return;
    explain_bottleneck(r);
    explain_policy(fabric, r);
    explain_ack_delay(r);
    explain_timeouts(fabric, r);
}
