// SPDX-License-Identifier: MIT
// Whether several threads are faster than one depends on how many events a window has, how many
// packets cross, and the machine, and changes in a run. So does whether tiles are faster than
// all events in their order: tiles save cache misses, but before each window they need to know
// that no decision in it takes the order of events, and a window with such a decision is
// processed in order after all. So both ways are timed during the whole run: of every TURN
// windows the last few are processed the other way, and are compared with those just before
// them, since work changes in a run. The faster way has the next turn. Where it is faster by
// far, the next turn has twice as many windows, so that fewer are processed the slower way. Old
// times count less and less. The first windows of all, in which flows are opened, do not count,
// nor those in which the caches of another processor still have the data.
#include "engine/partition_internal.h"

#define TRIAL_FROM 16 // windows that do not count
#define TRIAL_TURN 256u
#define TRIAL_OTHER 8 // windows of a turn that are processed the other way,
#define TRIAL_SHORT 4 // of the first turn: one in so many
#define TRIAL_COLD 2  // windows after a change that do not count
#define TRIAL_KEEP 0.75
#define TRIAL_MARGIN 0.95 // of the other way's time, that it takes to change
#define TRIAL_FAR 1.5     // times as long: then the next turn has twice as many windows,
#define TRIAL_DOUBLED 5   // so many times at most

static double pace_of(const struct pace *pace) { return pace->s / (double)pace->events; }

static bool is_known(const struct trial *t)
{
    return t->paces[0].events > 0 && t->paces[1].events > 0;
}

static uint32_t turn_of(const struct trial *t)
{
    return t->turns == 0 ? TRIAL_SHORT * TRIAL_OTHER : TRIAL_TURN << t->clear;
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
    chosen = &t->paces[!t->alone_is_faster], other = &t->paces[t->alone_is_faster];
    bool far = is_known(t) && pace_of(other) > TRIAL_FAR * pace_of(chosen);
    t->clear = !far ? 0 : t->clear < TRIAL_DOUBLED ? t->clear + 1 : t->clear;
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
    bool before = at + TRIAL_OTHER < turn;
    if (before ? at + 2 * TRIAL_OTHER >= turn : at + TRIAL_OTHER >= turn + TRIAL_COLD) {
        pace->s += s;
        pace->events += (double)events;
    }
    if (++t->windows >= turn)
        decide(t);
}
