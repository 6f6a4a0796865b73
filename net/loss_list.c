// SPDX-License-Identifier: MIT
// Counting of the data packets of one direction of a link, and the decision which of them are lost.
#include "net/loss_list.h"

#include <stdlib.h>

#include "engine/base/memory.h"

void loss_list_free(struct loss_list *list)
{
    free(list->rules);
    free(list->again);
    *list = (struct loss_list){0};
}

void loss_list_add(struct loss_list *list, const struct loss_rule *rule)
{
    if (list->n_rules == list->cap_rules)
        list->rules = memory_grow(list->rules, &list->cap_rules, sizeof *list->rules);
    list->rules[list->n_rules++] = *rule;
}

// Returns how many transmissions of packet number `n`, which arrives now, the rule loses.
static uint64_t losses_of(struct loss_rule *rule, uint64_t n)
{
    bool listed = rule->next < rule->n_packets && rule->packets[rule->next] == n;
    rule->next += listed;
    return listed || (rule->every > 0 && n % rule->every == 0) ? rule->times : 0;
}

static void remember(struct loss_list *list, const struct packet *p, const struct packet_meta *meta,
                     uint64_t left)
{
    if (list->n_again == list->cap_again)
        list->again = memory_grow(list->again, &list->cap_again, sizeof *list->again);
    list->again[list->n_again++] = (struct loss_again){p->flow, meta->seq, left};
}

static bool first_transmission_hit(struct loss_list *list, const struct packet *p,
                                   const struct packet_meta *meta)
{
    uint64_t n = ++list->seen, times = 0;
    for (size_t i = 0; i < list->n_rules; i++) {
        struct loss_rule *rule = &list->rules[i];
        uint64_t losses = losses_of(rule, n);
        times = losses > times ? losses : times;
        ps_t until_ps = p->arrives_ps + rule->blackout_ps;
        if (n == rule->blackout_packet && until_ps > list->blackout_until_ps)
            list->blackout_until_ps = until_ps;
    }
    if (times > 1)
        remember(list, p, meta, times - 1);
    return times > 0;
}

static bool retransmission_hit(struct loss_list *list, const struct packet *p,
                               const struct packet_meta *meta)
{
    for (size_t i = 0; i < list->n_again; i++) {
        struct loss_again *again = &list->again[i];
        if (again->flow != p->flow || again->seq != meta->seq)
            continue;
        if (--again->left == 0)
            *again = list->again[--list->n_again];
        return true;
    }
    return false;
}

bool loss_list_hits(struct loss_list *list, const struct packet *p, const struct packet_meta *meta)
{
    bool hit = false;
    if (p->kind == PACKET_DATA && meta->payload_bytes > 0)
        hit = p->flags & PACKET_RETX ? retransmission_hit(list, p, meta)
                                     : first_transmission_hit(list, p, meta);
    return hit || p->arrives_ps < list->blackout_until_ps;
}
