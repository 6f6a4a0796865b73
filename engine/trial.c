// SPDX-License-Identifier: MIT
// Whether several threads are faster than one depends on how many events a window has, how many
// packets cross, and the machine, and changes in a run. So both ways are timed all the time: of
// every TURN windows the last few are processed the other way, and the faster one has the next
// ones. Old times count less and less. The first windows of all, in which flows are opened, do not
// count, nor those in which the caches of another processor still have the data.
#include "engine/partition_internal.h"

#define TRIAL_FROM 16 // windows that do not count
#define TRIAL_TURN 256
#define TRIAL_OTHER 8 // windows of a turn that are processed the other way,
#define TRIAL_SHORT 4 // of the first turn: one in so many
#define TRIAL_COLD 2  // windows after a change that do not count
#define TRIAL_KEEP 0.75
#define TRIAL_MARGIN 0.95 // of the other way's time, that it takes to change

static double pace_of(const struct pace *pace) { return pace->s / (double)pace->events; }

static bool is_known(const struct trial *t)
{
    return t->paces[0].events > 0 && t->paces[1].events > 0;
}

static uint32_t turn_of(const struct trial *t)
{
    return t->turns == 0 ? TRIAL_SHORT * TRIAL_OTHER : TRIAL_TURN;
}

bool trial_wants_alone(const struct trial *t)
{
    if (t->never)
        return false;
    return t->alone_is_faster != (t->windows >= turn_of(t) - TRIAL_OTHER);
}

// End a turn.
static void decide(struct trial *t)
{
    const struct pace *chosen = &t->paces[!t->alone_is_faster],
                      *other = &t->paces[t->alone_is_faster];
    if (is_known(t) && pace_of(other) < TRIAL_MARGIN * pace_of(chosen))
        t->alone_is_faster = !t->alone_is_faster;
    for (int i = 0; i < 2; i++) {
        t->paces[i].s *= TRIAL_KEEP;
        t->paces[i].events *= TRIAL_KEEP;
    }
    t->windows = 0;
    t->turns++;
}

void trial_note(struct trial *t, bool together, double s, uint64_t events)
{
    struct pace *pace = &t->paces[together];
    if (t->skipped < TRIAL_FROM) {
        t->skipped++;
        return;
    }
    uint32_t turn = turn_of(t), at = t->windows % turn;
    uint32_t since = at < turn - TRIAL_OTHER ? at : at - (turn - TRIAL_OTHER);
    if (since >= TRIAL_COLD) {
        pace->s += s;
        pace->events += (double)events;
    }
    if (++t->windows >= turn)
        decide(t);
}
