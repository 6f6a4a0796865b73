// SPDX-License-Identifier: MIT
// Whether several threads are faster than one depends on how many events a window has, how many
// packets cross, and the machine. So a trial gives some windows to each, in turn, and the faster
// one has the next ones. The first windows of all, in which flows are opened, do not count, nor
// those in which the caches of another processor still have the data.
#include "engine/partition_internal.h"

#define TRIAL_FROM 64
#define TRIAL_TO 192
#define TRIAL_TURN 64 // in a trial one thread processes the last TRIAL_ALONE of so many windows
#define TRIAL_ALONE 8
#define TRIAL_COLD 2 // windows after a change that do not count
#define TRIAL_AGAIN 8192

static double pace_of(const struct pace *pace)
{
    return pace->events > 0 ? pace->s / (double)pace->events : 0;
}

static bool is_on(const struct trial *t)
{
    return t->windows >= TRIAL_FROM && t->windows < TRIAL_TO;
}

bool trial_wants_alone(const struct trial *t)
{
    if (t->never)
        return false;
    return is_on(t) ? t->windows % TRIAL_TURN >= TRIAL_TURN - TRIAL_ALONE : t->alone_is_faster;
}

void trial_note(struct trial *t, bool together, double s, uint64_t events)
{
    struct pace *pace = &t->paces[together];
    uint32_t turn = t->windows % TRIAL_TURN, since = turn % (TRIAL_TURN - TRIAL_ALONE);
    if (is_on(t) && since >= TRIAL_COLD) {
        pace->s += s;
        pace->events += events;
    }
    if (++t->windows == TRIAL_TO)
        t->alone_is_faster = pace_of(&t->paces[0]) < pace_of(&t->paces[1]);
    if (t->windows < TRIAL_AGAIN)
        return;
    t->windows = TRIAL_FROM;
    t->paces[0] = t->paces[1] = (struct pace){0, 0};
}
