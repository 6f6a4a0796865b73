// SPDX-License-Identifier: MIT
// Timed trials of two ways to process windows: one thread against several, or all events in their
// order against tiles.
//
// Which way is faster depends on the number of events in a window, on the number of packets that
// cross between shards, and on the machine, and it changes during a run. Tiles save cache misses,
// but each window first needs a check that no decision in it depends on the order of events, and a
// window with such a decision is processed in order after all. Therefore both ways are timed during
// the whole run. A turn is TRIAL_TURN windows; its last TRIAL_OTHER windows are processed the other
// way and are compared with the windows just before them, because the work changes during a run.
// The faster way gets the next turn. If it is faster by far, the next turn has twice as many
// windows, so that fewer windows are processed the slower way. Old times lose weight with every
// turn. Two kinds of windows are not timed: the first windows of a run, in which flows are opened,
// and the first windows after a change, in which the caches of another processor still hold the
// data.
#include "engine/shards_internal.h"

#define TRIAL_FROM 16 // the first windows of a run are not timed
#define TRIAL_TURN 256u
#define TRIAL_OTHER 8 // the last windows of a turn are processed the other way
#define TRIAL_SHORT 4 // the first turn is short: one window in TRIAL_SHORT goes the other way
#define TRIAL_COLD 2  // windows after a change that are not timed
// The weight that earlier times keep at the end of a turn.
#define TRIAL_KEEP 0.75
#define TRIAL_MARGIN 0.95 // the other way must take less than this share of the time to win
#define TRIAL_FAR 1.5     // a loser that takes this many times as long doubles the next turn
#define TRIAL_DOUBLED 5   // a turn is doubled at most this many times

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
