// SPDX-License-Identifier: MIT
// A pass begins when its samples are there; reads of a rank go in turn.
#include "workload/training/training_input.h"

#include <stdlib.h>

#include "engine/base/memory.h"

void training_input_init(struct training_input *in, const struct input_spec *spec, uint32_t ranks,
                         uint64_t passes)
{
    *in = (struct training_input){.spec = spec, .passes = passes};
    in->ranks = memory_zeroed(ranks, sizeof *in->ranks);
    for (uint32_t i = 0; i < ranks; i++)
        in->ranks[i].waits_since_ps = PS_NEVER;
}

void training_input_free(struct training_input *in) { free(in->ranks); }

static enum program_state read_begin(const struct training_input *in, struct input_rank *r,
                                     struct step *step)
{
    const struct input_params *p = &in->spec->p;
    r->issued++;
    *step = (struct step){.kind = STEP_COPY,
                          .id = TRAINING_INPUT_ID,
                          .bytes = p->samples * p->sample_bytes,
                          .from = in->spec->tier,
                          .in_turn = true};
    return PROGRAM_STEP;
}

enum program_state training_input_next(struct training_input *in, uint32_t rank, uint64_t pass,
                                       ps_t now, struct step *step)
{
    struct input_rank *r = &in->ranks[rank];
    bool begins = pass == r->begun && pass < in->passes;
    uint64_t ahead = in->spec->p.prefetch > 0 ? in->spec->p.prefetch : begins;
    if (r->issued < in->passes && r->issued < r->begun + ahead)
        return read_begin(in, r, step);
    if (!begins)
        return PROGRAM_END;
    if (r->read <= pass) {
        r->waits_since_ps = r->waits_since_ps == PS_NEVER ? now : r->waits_since_ps;
        return PROGRAM_WAIT;
    }
    r->waited_ps += r->waits_since_ps == PS_NEVER ? 0 : now - r->waits_since_ps;
    r->waits_since_ps = PS_NEVER;
    r->begun++;
    if (in->spec->p.prefetch > 0 && r->issued < in->passes)
        return read_begin(in, r, step);
    return PROGRAM_END;
}

void training_input_done(struct training_input *in, uint32_t rank) { in->ranks[rank].read++; }
