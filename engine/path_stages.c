// SPDX-License-Identifier: MIT
// Times of critical paths by stage: lists of the ends of stages, which paths with a common past
// share.
#include <string.h>

#include "engine/base/memory.h"
#include "engine/critical_path.h"

void path_stage(struct path_book *b, uint32_t id, uint32_t stage, const ps_t late[PATH_CAUSES])
{
    struct path *p = &b->paths[id];
    if (p->stage == stage)
        return;
    uint32_t mark = path_object_take(b, PATH_MARKS);
    struct path_mark *m = &b->marks[mark];
    *m = (struct path_mark){.link = {.refs = 1, .before = p->marks}, .stage = p->stage};
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++) {
        ps_t since = late != NULL && late[cause] < p->parts[cause] ? late[cause] : 0;
        m->parts[cause] = p->parts[cause] - since;
    }
    p->marks = mark; // it takes over the path's reference
    p->stage = stage;
}

void path_stage_current(struct path_book *b, uint32_t stage, ps_t now)
{
    struct path_thread *here = path_thread(b);
    path_drop(b, path_take(b, now)); // the current path ends now
    if (b->paths[here->current].stage == stage)
        return;
    here->current = path_own(b, here->current);
    path_stage(b, here->current, stage, NULL);
}

void path_stages(const struct path_book *b, const struct path *p, ps_t (*sums)[PATH_CAUSES],
                 size_t n)
{
    const ps_t *until = p->parts;
    uint32_t stage = p->stage;
    for (uint32_t at = p->marks;; at = b->marks[at].link.before) {
        const struct path_mark *m = &b->marks[at]; // [0]: the beginning of the path
        for (unsigned cause = 0; cause < PATH_CAUSES && stage < n; cause++)
            sums[stage][cause] += until[cause] - m->parts[cause];
        if (at == 0)
            return;
        until = m->parts;
        stage = m->stage;
    }
}
