// SPDX-License-Identifier: MIT
// Of alike places a few are tried at first. Where a cause comes near and does not fit, it may be at
// another one of them: which, the values of other links and ranks say.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/diagnose.h"
#include "engine/base/text.h"

#define MORE 6    // places of a cause
#define SOURCES 8 // at one of them

// Other sources of the same place.
static void add_sources(struct diagnosis *d, size_t cause)
{
    const struct cause_kind *kind = d->causes[cause].kind;
    double strength = d->list[d->causes[cause].best].strength;
    uint32_t n = d->facts.n_ranks, step = (n - 1) / SOURCES + 1, dst = 0;
    sscanf(d->causes[cause].at, "rank%u", &dst);
    for (uint32_t i = 1; i < n; i += step) {
        char *at = text_format("rank%u->rank%u", (dst + i) % n, dst);
        if (i != n / 2) { // which has run
            hypothesis_add(d, cause_add(d, kind, at, 1), strength);
            d->causes[cause].stands_for = fmax(1, d->causes[cause].stands_for - 1);
        }
        free(at);
    }
}

void places_more(struct diagnosis *d, size_t cause)
{
    const struct facts *f = &d->facts;
    const struct cause_kind *kind = d->causes[cause].kind;
    bool ranks = kind->places == AT_RANKS;
    if (kind->sources)
        add_sources(d, cause);
    if (!ranks && kind->places != AT_LINKS && kind->places != AT_DIRECTIONS &&
        kind->places != AT_TRUNKS)
        return;
    const struct places *tried = ranks ? &f->ranks : &f->links,
                        *more = ranks ? &f->more_ranks : &f->more_links;
    const struct place *own = place_at(tried, d->causes[cause].at);
    size_t alike = 0, seen = 0, added = 0;
    double strength = d->list[d->causes[cause].best].strength;
    if (!own || own->class == SIZE_MAX)
        return;
    for (size_t i = 0; i < more->n; i++)
        alike += more->list[i].class == own->class;
    size_t step = alike / MORE + 1;
    for (size_t i = 0; i < more->n; i++) {
        const struct place *p = &more->list[i];
        if (p->class != own->class || seen++ % step != 0 || cause_at(d, kind, p->at))
            continue;
        hypothesis_add(d, cause_add(d, kind, p->at, 1), strength);
        added++;
    }
    for (size_t c = 0; c < d->n_causes; c++) { // what the first ones stand for is less by them
        const struct place *p = d->causes[c].kind == kind ? place_at(tried, d->causes[c].at) : NULL;
        if (p && p->class == own->class && p->stands_for > 1)
            d->causes[c].stands_for *= (double)(alike - added + 1) / (double)(alike + 1);
    }
}
