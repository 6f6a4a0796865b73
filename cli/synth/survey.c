// SPDX-License-Identifier: MIT
#include "cli/synth/survey.h"

#include <stdlib.h>

#include "engine/base/memory.h"

int synth_nodes(const struct node_program *p, synth_visit *visit, void *ctx, struct err *err)
{
    void *cursor = p->source->open(p->self);
    int got = 0;
    for (uint32_t r = 0; r < p->n_ranks && got >= 0; r++) {
        struct node node = {0};
        while ((got = p->source->next(cursor, r, &node, err)) > 0)
            visit(ctx, r, &node);
    }
    p->source->close(cursor);
    return got;
}

static void note(void *ctx, uint32_t rank, const struct node *node)
{
    struct synth_survey *s = ctx;
    (void)rank;
    if (node->id > s->largest_id)
        s->largest_id = node->id;
    if (node->kind == NODE_COLLECTIVE)
        s->group_use[node->group] = node->use;
}

int synth_survey_read(struct synth_survey *s, const struct node_program *p, struct err *err)
{
    *s = (struct synth_survey){.group_use = memory_zeroed(p->n_groups + 1, sizeof *s->group_use)};
    for (uint32_t g = 0; g < p->n_groups; g++)
        s->group_use[g] = p->n_uses;
    return synth_nodes(p, note, s, err);
}

void synth_survey_free(struct synth_survey *s) { free(s->group_use); }
