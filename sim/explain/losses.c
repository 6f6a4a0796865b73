// SPDX-License-Identifier: MIT
// Sentences about packets that links lose (`faults`): what their recovery costs, and what more
// than the lost packets is sent again because of go-back-N.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/explain/explain_internal.h"

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
            reason_set(reason, "faults[%zu]=null", i);
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
    struct reason_result *reason =
        result_cause(r, REASON_RECOVERY, saving,
                     text_format("go-back-N sent %llu packets again for %llu that were lost",
                                 (unsigned long long)r->retransmitted, (unsigned long long)lost),
                     "with transport.recovery selective_repeat");
    reason_set(reason, "transport.recovery=selective_repeat");
}

void explain_losses(const struct fabric *fabric, struct result *r)
{
    uint64_t lost = r->drops[DROP_LINK_LOSS] + r->drops[DROP_LINK_CORRUPTION];
    if (lost == 0 || !result_has_path(r) || r->retransmitted == 0)
        return;
    const ps_t *parts = r->last->critical.parts;
    ps_t saving = critical_sum_ps(&r->last->critical, CAUSES_OF_LOSS);
    if (r->n_tcp > 0) // which cuts its window for them
        saving = result_wait_saving_ps(r, saving + parts[PATH_WINDOW] + parts[PATH_PACE]);
    if (result_share_of(r, saving) < SAVING_MIN)
        return;
    struct reason_result *reason =
        result_cause(r, REASON_LOSS, saving,
                     text_format("losses: %llu packets were lost on links (`faults`, %s), and %llu "
                                 "were sent again",
                                 (unsigned long long)lost, first_place(fabric->spec),
                                 (unsigned long long)r->retransmitted),
                     "without these losses");
    reason->at = text_format("%s", first_place(fabric->spec));
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
    char has[UNIT_TEXT];
    if (dropped == 0 || !most || !result_has_path(r))
        return;
    ps_t saving = result_wait_saving_ps(
        r, critical_sum_ps(&r->last->critical, CAUSES_OF_LOSS | CAUSE(WINDOW) | CAUSE(PACE)));
    if (result_share_of(r, saving) < DROPS_MIN)
        return;
    bool limit = r->drops[DROP_QUEUE_LIMIT] > r->drops[DROP_LOSSY_THRESHOLD];
    uint64_t buffer = fabric->buffer_bytes[fabric->spec->n_dims - 1];
    struct reason_result *reason = result_cause(
        r, REASON_DROPS, saving,
        text_format("drops: %llu packets were dropped by full queues, most at %s (%s %s)",
                    (unsigned long long)dropped, most->at,
                    limit ? "switch.queue_limit" : "switch.buffer",
                    limit ? "as set" : human_bytes(buffer, has)),
        limit ? "without switch.queue_limit" : "with 16 times the buffer");
    reason->at = text_format("%s", most->at);
    if (limit)
        reason_set(reason, "switch.queue_limit=auto");
    else
        reason_set(reason, "switch.buffer=%lluB", (unsigned long long)(LARGER * buffer));
}
