// SPDX-License-Identifier: MIT
#include "cli/synth/synth.h"

#include "cli/synth/hidden_name.h"
#include "cli/synth/made_source.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

static void copy_names(struct node_program *made, const struct node_program *from, uint64_t seed)
{
    char name[HIDDEN_NAME];
    made->uses = memory_zeroed(from->n_uses + 1, sizeof *made->uses);
    made->layers = memory_zeroed(from->n_layers + 1, sizeof *made->layers);
    for (uint32_t u = 0; u < from->n_uses; u++)
        made->uses[made->n_uses++] = memory_text(from->uses[u]);
    for (uint32_t l = 0; l < from->n_layers; l++) {
        hidden_name(seed, from->layers[l], name);
        made->layers[made->n_layers++] = memory_text(name);
    }
}

int synth_make(struct node_program *made, const struct node_program *from,
               const struct synth_wish *wish, struct err *err)
{
    struct made_source *s = memory_zeroed(1, sizeof *s);
    *s = (struct made_source){.from = from, .wish = *wish};
    *made = (struct node_program){.source = &made_source_ops,
                                  .self = s,
                                  .in_order = from->in_order,
                                  .tiers = from->tiers,
                                  .stream_name = from->stream_name,
                                  .idle_use = from->idle_use};
    copy_names(made, from, wish->seed);
    if (synth_survey_read(&s->survey, from, err) != 0 ||
        synth_grow(&s->growth, made, from, &s->survey, wish->n_ranks, wish->grow, err) != 0)
        return -1;
    if (s->survey.largest_id > (uint64_t)INT64_MAX / wish->repeat - 2)
        return err_add(err, "--repeat", "numbers of nodes up to %llu leave no room for others",
                       (unsigned long long)s->survey.largest_id);
    s->times = synth_times_fit(from, err);
    if (s->times == NULL)
        return -1;
    s->seat = synth_seats(s->times, s->growth.source, s->growth.n_ranks, wish->seed);
    return 0;
}

uint32_t synth_classes(const struct node_program *made)
{
    return synth_times_classes(((const struct made_source *)made->self)->times);
}
