// SPDX-License-Identifier: MIT
// Makes sentences from the accounts of a program's ranks: what compute streams were idle for,
// pipeline bubbles, the layer that waits most, and the rank that others waited for.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "sim/explain/explain_internal.h"

#define PART_MIN 0.01 // share of the time from which a use is named
#define USES_NAMED 4
#define BUBBLE_MIN 0.01
#define PREFETCH_MOST 1000 // batches; the most that `input` takes
#define LATE_MIN 0.05      // share of all waiting from which the rank that ends it is named

static ps_t idle_ps(const struct idle_result *i) { return i->exposed_ps + i->waiting_ps; }

static const struct program_result *last_program(const struct result *r)
{
    for (size_t i = 0; i < r->n_programs; i++)
        if (r->programs[i].job == r->last->job)
            return &r->programs[i];
    return NULL;
}

// The use with the largest idle time that is not yet named.
static const struct idle_result *largest(const struct program_result *p, const bool *named)
{
    const struct idle_result *most = NULL;
    for (uint32_t u = 0; u < p->n_uses; u++)
        if (!named[u] && (most == NULL || idle_ps(&p->uses[u]) > idle_ps(most)))
            most = &p->uses[u];
    return most;
}

static void explain_uses(const struct program_result *p, struct result *r)
{
    char all[UNIT_TEXT], total[UNIT_TEXT], part[UNIT_TEXT];
    bool *named = memory_zeroed(p->n_uses, sizeof *named);
    ps_t exposed = p->total_ps - p->compute_ps;
    struct text text;
    FILE *out = text_open(&text);
    fprintf(out, "compute streams are idle for %s of %s (mean of the ranks)",
            human_time(exposed, all), human_time(p->total_ps, total));
    unsigned n = 0;
    const struct idle_result *use;
    for (; n < USES_NAMED && (use = largest(p, named)) != NULL; n++) {
        if ((double)idle_ps(use) < PART_MIN * (double)p->total_ps)
            break;
        named[use - p->uses] = true;
        fprintf(out, "%s %s %s", n == 0 ? ":" : ",", use->name, human_time(idle_ps(use), part));
        if (use->waiting_ps > 0)
            fprintf(out, " (%s of it until the peers were ready)",
                    human_time(use->waiting_ps, part));
    }
    free(named);
    if ((double)p->early_ps >= PART_MIN * (double)p->total_ps) {
        fprintf(out, "%s after their end %s", n == 0 ? ":" : ",", human_time(p->early_ps, part));
        n++;
    }
    char *sentence = text_close(out, &text);
    if (n > 0)
        result_reason(r, REASON_LAYERS, EXPLAIN_TIME - 1 + (double)exposed / (double)p->total_ps,
                      sentence);
    else
        free(sentence);
}

// With m micro-batches and p stages a stage is idle for (p - 1) / (m + p - 1) of the time; with
// twice as many micro-batches a sample takes half of that share less (Huang et al., 2019).
static void explain_bubble(const struct program_result *p, struct result *r)
{
    if (p->bubble < BUBBLE_MIN)
        return;
    result_reason(
        r, REASON_BUBBLE, EXPLAIN_TIME - 0.2,
        text_format("pipeline bubbles: stages are idle for %.1f %% of the time, until another "
                    "stage has sent or because they have ended",
                    100 * p->bubble));
}

// Links to hosts that are twice as fast.
static void explain_faster(const struct fabric *fabric, const struct program_result *p,
                           struct result *r, char *seen)
{
    double rate = 2e-9 * (double)p->swap.link_bps;
    char change[64];
    snprintf(change, sizeof change, "with a swap_rate of %.6g Gbit/s", rate);
    struct reason_result *reason = result_cause(r, REASON_SWAP, p->swap.faster_ps, seen, change);
    char *key = job_key(fabric, p->job, "swap_rate");
    reason_set(reason, "%s=%.9gGbps", key, rate);
    free(key);
}

static void explain_swap(const struct fabric *fabric, const struct program_result *p,
                         struct result *r)
{
    const struct swap_result *swap = &p->swap;
    char waits[UNIT_TEXT], total[UNIT_TEXT], again[UNIT_TEXT];
    if (!swap->any)
        return;
    ps_t waiting = idle_ps(&p->uses[swap->use]);
    if ((double)(waiting + swap->recomputed_ps) < PART_MIN * (double)p->total_ps)
        return;
    struct text text;
    FILE *out = text_open(&text);
    human_time(p->total_ps, total);
    human_time(swap->recomputed_ps, again);
    if (waiting > 0)
        fprintf(out, "computing waits %s of %s for transfers to and from the host%s",
                human_time(waiting, waits), total, swap->weights ? ", weights among them" : "");
    if (waiting > 0 && swap->recomputed > 0)
        fprintf(out, ", and computes %s again", again);
    else if (waiting == 0)
        fprintf(out, "computing %s of %s again spares waiting for the host", again, total);
    fprintf(out, " (of %u layers' outputs %u are swapped and %u recomputed)",
            swap->kept + swap->swapped + swap->recomputed, swap->swapped, swap->recomputed);
    explain_faster(fabric, p, r, text_close(out, &text));
}

static void explain_layer(const struct program_result *p, struct result *r)
{
    const struct idle_result *most = NULL;
    char time[UNIT_TEXT];
    for (uint32_t l = 0; l < p->n_layers; l++)
        if (most == NULL || idle_ps(&p->layers[l]) > idle_ps(most))
            most = &p->layers[l];
    if (most == NULL || p->n_layers < 2 || (double)idle_ps(most) < PART_MIN * (double)p->total_ps)
        return;
    result_explain(
        r, EXPLAIN_TIME - 0.4,
        text_format("of the layers, %s has the most exposed communication: %s (mean of the ranks)",
                    most->name, human_time(idle_ps(most), time)));
}

static void explain_late(const struct program_result *p, struct result *r)
{
    ps_t waiting = 0;
    char time[UNIT_TEXT];
    for (uint32_t u = 0; u < p->n_uses; u++)
        waiting += p->uses[u].waiting_ps;
    double all = (double)waiting * p->ranks;
    if (p->n_late == 0 || (double)p->late[0].blamed_ps < LATE_MIN * all ||
        (double)waiting < PART_MIN * (double)p->total_ps)
        return;
    result_reason(
        r, REASON_STRAGGLER, EXPLAIN_TIME - 0.3,
        text_format("rank%u was the last peer for %.0f %% of the waiting: others waited %s for "
                    "it (sum)",
                    p->late[0].rank, 100 * (double)p->late[0].blamed_ps / all,
                    human_time(p->late[0].blamed_ps, time)));
}

// What others did to the messages of the critical path: other packets of the NIC's port, queues,
// pauses, losses, and paces and windows that a policy has lowered.
static ps_t contention_ps(const struct slowest_result *slowest)
{
    static const enum path_cause causes[] = {PATH_NIC,    PATH_WINDOW,    PATH_PACE,   PATH_PAUSED,
                                             PATH_QUEUED, PATH_RESENDING, PATH_TIMEOUT};
    ps_t sum = 0;
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        sum += slowest->critical.parts[causes[i]];
    return sum;
}

// The closed form of how the job divides its work, and where the run differs from it.
static void explain_projection(const struct program_result *p, struct result *r)
{
    char form[UNIT_TEXT], compute[UNIT_TEXT], run[UNIT_TEXT], contention[UNIT_TEXT];
    if (p->projected_ps < 0)
        return;
    double ratio = (double)p->total_ps / (double)p->projected_ps;
    struct text text;
    FILE *out = text_open(&text);
    fprintf(out,
            "the closed form, which is alone on the network and hides nothing, has %s, %s of it "
            "%s; the run took %s, %.1f %% %s",
            human_time(p->projected_ps, form), human_time(p->projected_compute_ps, compute),
            p->swap.any ? "computing and transfers as planned" : "computing",
            human_time(p->total_ps, run), 100 * (ratio > 1 ? ratio - 1 : 1 - ratio),
            ratio > 1 ? "more" : "less");
    if (r->last->critical.known)
        fprintf(out, ", with %s of contention on its critical path",
                human_time(contention_ps(r->last), contention));
    result_explain(r, EXPLAIN_TIME - 0.35, text_close(out, &text));
}

void explain_input(const struct fabric *fabric, ps_t waiting, ps_t all, struct result *r)
{
    char time[UNIT_TEXT], total[UNIT_TEXT], change[48];
    snprintf(change, sizeof change, "with a prefetch of %d batches", PREFETCH_MOST);
    struct reason_result *reason = result_cause(
        r, REASON_INPUT, waiting / 2,
        text_format("computing waits for input for %s of %s (mean of the ranks): nothing hides the "
                    "first batch; later ones are hidden as far as `prefetch` lets them be read, "
                    "and exchanged, while earlier ones are computed",
                    human_time(waiting, time), human_time(all, total)),
        change);
    char *key = job_key(fabric, r->last->job, "input.prefetch");
    reason_set(reason, "%s=%d", key, PREFETCH_MOST);
    free(key);
}

// Batches of training data (workload/nodes/input.h), whose use is called "input".
static void explain_program_input(const struct fabric *fabric, const struct program_result *p,
                                  struct result *r)
{
    if (strcmp(fabric->spec->jobs[p->job].kind->name, "program") == 0)
        return; // whose uses have names of its own
    for (uint32_t u = 0; u < p->n_uses; u++) {
        ps_t idle = idle_ps(&p->uses[u]);
        if (strcmp(p->uses[u].name, "input") != 0 || (double)idle < PART_MIN * (double)p->total_ps)
            continue;
        explain_input(fabric, idle, p->total_ps, r);
    }
}

void explain_program(const struct fabric *fabric, struct result *r)
{
    const struct program_result *p = last_program(r);
    if (p == NULL || p->total_ps <= 0)
        return;
    explain_uses(p, r);
    explain_program_input(fabric, p, r);
    explain_bubble(p, r);
    explain_swap(fabric, p, r);
    explain_layer(p, r);
    explain_late(p, r);
    explain_projection(p, r);
}
