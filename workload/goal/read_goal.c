// SPDX-License-Identifier: MIT
// Reads goal jobs: the file, and checks of the program as a whole.
#include <stdlib.h>

#include "engine/text/json_file.h"
#include "workload/goal/goal_file.h"
#include "workload/goal/goal_job.h"
#include "workload/nodes/node_check.h"
#include "workload/read/job_reader.h"

// Check that all pairs of ranks that exchange messages can do so.
static void pairs_check(struct reader *r, const struct place *place, const struct job_spec *job,
                        const struct node_program *p)
{
    void *cursor = p->source->open(p->self);
    struct node node;
    bool good = true;
    for (uint32_t rank = 0; rank < p->n_ranks && good; rank++)
        while (good && p->source->next(cursor, rank, &node, r->err) > 0)
            good = node.kind != NODE_SEND || pair_check(r, place, job, rank, node.peer);
    p->source->close(cursor);
}

static void read_goal(struct reader *r, const struct place *place, struct keys *keys,
                      struct job_spec *job)
{
    (void)keys;
    struct goal_settings *s = job->settings;
    struct place file = place_key(place, "file");
    char path[PLACE_TEXT];
    map_ranks(r, place, job, &s->params.mapping);
    if (job_size(r, job) == 0 || s->params.file == NULL)
        return;
    place_text(&file, path);
    char *name = path_from(r->dir, s->params.file);
    if (goal_read(&s->program, name, job_size(r, job), path, r->err) == 0 &&
        node_program_check(&s->program, path, r->err) == 0)
        pairs_check(r, &file, job, &s->program);
    free(name);
}

const struct job_reader goal_reader = {.read = read_goal};
