// SPDX-License-Identifier: MIT
// Sentences about packets that links lose (`faults`): what their recovery costs, and what more
// than the lost packets is sent again because of go-back-N.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/explain/explain_internal.h"

#define BY_TIMER 0.5       // of the recovery: what is waited for a timer is all saved
#define MORE_THAN_LOST 1.5 // packets sent again, by those lost, from which go-back-N is named

static bool loses(const struct fault_spec *f)
{
    return f->loss > 0 || f->corruption > 0 || f->every > 0 || f->n_packets > 0 ||
           f->blackout_ps > 0;
}

// Remove the faults that lose packets: from the last one on, since the others move up.
static void add_remedy(const struct spec *spec, struct reason_result *reason)
{
    for (size_t i = spec->n_faults; i-- > 0;)
        if (loses(&spec->faults[i]))
            reason_remedy(reason, "faults[%zu]=null", i);
}

static const char *first_place(const struct spec *spec)
{
    for (size_t i = 0; i < spec->n_faults; i++)
        if (loses(&spec->faults[i]))
            return spec->faults[i].at;
    return "links";
}

bool explain_goes_back(const struct fabric *fabric)
{
    const struct transport_spec *t = &fabric->spec->dims[fabric->spec->n_dims - 1].transport;
    const struct param p = param_find(t->ops->params, t->ops->n_params, "recovery");
    char text[PARAM_TEXT_MAX];
    return p.name && strcmp(param_text(&p, t->own, text), "go_back_n") == 0;
}

static void explain_go_back(const struct fabric *fabric, struct result *r, uint64_t lost)
{
    double again = (double)r->retransmitted, other = again - (double)lost;
    ps_t saving = (ps_t)((double)r->last->critical.parts[PATH_RESENDING] * other / again);
    if (!explain_goes_back(fabric) || again < MORE_THAN_LOST * (double)lost ||
        result_share_of(r, saving) < SAVING_MIN)
        return;
    struct reason_result *reason = result_saving(
        r, REASON_RECOVERY, saving,
        text_format("go-back-N sent %llu packets again for %llu that were lost; less with "
                    "transport.recovery selective_repeat",
                    (unsigned long long)r->retransmitted, (unsigned long long)lost));
    reason->saving_ps = -1; // how much of it is the time until a loss is known is not recorded
    reason_remedy(reason, "transport.recovery=selective_repeat");
}

void explain_losses(const struct fabric *fabric, struct result *r)
{
    uint64_t lost = r->drops[DROP_LINK_LOSS] + r->drops[DROP_LINK_CORRUPTION];
    char less[UNIT_TEXT];
    if (lost == 0 || !result_has_path(r) || r->retransmitted == 0)
        return;
    const ps_t *parts = r->last->critical.parts;
    ps_t saving = critical_sum_ps(&r->last->critical, CAUSES_OF_LOSS);
    if (r->n_tcp > 0) // which cuts its window for them
        saving = result_wait_saving_ps(r, saving + parts[PATH_WINDOW] + parts[PATH_PACE]);
    if (result_share_of(r, saving) < SAVING_MIN)
        return;
    bool by_timer = (double)parts[PATH_TIMEOUT] >= BY_TIMER * (double)saving;
    struct reason_result *reason =
        result_bound(r, REASON_LOSS, saving,
                     text_format("losses: %llu packets were lost on links (`faults`, %s), and %llu "
                                 "were sent again: %s%s less without",
                                 (unsigned long long)lost, first_place(fabric->spec),
                                 (unsigned long long)r->retransmitted, by_timer ? "" : "up to ",
                                 human_time(saving, less)));
    reason->bound = !by_timer;
    add_remedy(fabric->spec, reason);
    explain_go_back(fabric, r, lost);
}

/* ---- drops in switches ---- */

#define DROPS_MIN 0.1 // share of the run; below it the first round trips are most of the rest
#define LARGER 16     // the buffer with which drops are to end, by the present one

void explain_queue_drops(const struct fabric *fabric, struct result *r)
{
    uint64_t dropped = result_queue_drops(r);
    const struct port_result *most = result_most_dropped(r);
    char less[UNIT_TEXT], has[UNIT_TEXT];
    if (dropped == 0 || !most || !result_has_path(r))
        return;
    ps_t saving = result_wait_saving_ps(
        r, critical_sum_ps(&r->last->critical, CAUSES_OF_LOSS | CAUSE(WINDOW) | CAUSE(PACE)));
    if (result_share_of(r, saving) < DROPS_MIN)
        return;
    bool limit = r->drops[DROP_QUEUE_LIMIT] > r->drops[DROP_LOSSY_THRESHOLD];
    uint64_t buffer = fabric->spec->dims[fabric->spec->n_dims - 1].sw.buffer_bytes;
    bool alone = r->n_slowest == 1; // else other jobs may have the links
    char saved[2 * UNIT_TEXT] = "";
    if (alone)
        snprintf(saved, sizeof saved, ": up to %s", human_time(saving, less));
    struct reason_result *reason = result_bound(
        r, REASON_DROPS, saving,
        text_format(
            "drops: %llu packets were dropped by full queues, most at %s; cuts and recovery "
            "because of them%s less with %s (now %s)",
            (unsigned long long)dropped, most->at, alone ? saved : ":",
            limit ? "a larger switch.queue_limit" : "a larger switch.buffer",
            limit ? "as set" : human_bytes(buffer, has)));
    if (!alone)
        reason->saving_ps = -1;
    if (limit)
        reason_remedy(reason, "switch.queue_limit=auto");
    else
        reason_remedy(reason, "switch.buffer=%lluB", (unsigned long long)(LARGER * buffer));
}
