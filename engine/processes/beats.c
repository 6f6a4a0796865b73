// SPDX-License-Identifier: MIT
// Heartbeats. A thread of each process sends a beat to every other process ten times a second and
// receives theirs, independently of the first thread. Therefore a process that computes, builds or
// writes for minutes does not count as silent, whereas a process that has died, is stopped, or
// cannot be reached does.
//
// A process that gives up on a silent one reports this in its beats, and the others give up as
// well. Otherwise they would wait for ever for a process that is alive but no longer exchanges
// data.
#include <time.h>

#include "engine/processes/module.h"
#include "engine/processes/mpi_internal.h"

#define BEAT_NS 100000000L
#define ABSENT_S 1.0 // beats not read for so long: this process was stopped, not the others
#define TAG 2

// Values of a beat; GAVE_UP + q: on process q.
enum { ALIVE, LAST, GAVE_UP };

static uint32_t own_value(const struct joined *j)
{
    if (j->lost > 0)
        return GAVE_UP + (j->lost - 1);
    return j->ending ? LAST : ALIVE;
}

static void expect_beat(struct joined *j)
{
    if (MPI_Irecv(&j->heard_value, 1, MPI_UINT32_T, MPI_ANY_SOURCE, TAG, j->beats, &j->hearing) !=
        MPI_SUCCESS)
        j->hearing = MPI_REQUEST_NULL;
}

// True until all others have sent their last beat.
static bool expects_more(const struct joined *j)
{
    for (uint32_t q = 0; q < j->processes.n; q++)
        if (q != j->processes.rank && !j->peers[q].last_heard)
            return true;
    return false;
}

void beats_hear(struct joined *j)
{
    double now_s = mpi_now_s();
    if (now_s - j->listened_s > ABSENT_S)
        for (uint32_t q = 0; q < j->processes.n; q++)
            j->peers[q].heard_s = now_s;
    j->listened_s = now_s;
    while (j->hearing != MPI_REQUEST_NULL) {
        MPI_Status status;
        int over = 0;
        // The error does not name a process. The processes whose beats no longer arrive become
        // silent.
        if (MPI_Test(&j->hearing, &over, &status) != MPI_SUCCESS || !over)
            return;
        struct peer *peer = &j->peers[status.MPI_SOURCE];
        peer->heard_s = now_s;
        peer->last_heard = j->heard_value == LAST;
        if (j->heard_value >= GAVE_UP)
            peer->lost = 1 + (j->heard_value - GAVE_UP);
        if (expects_more(j))
            expect_beat(j);
    }
}

static void send_beats(struct joined *j)
{
    for (uint32_t q = 0; q < j->processes.n; q++) {
        struct peer *peer = &j->peers[q];
        int over = 0;
        if (q == j->processes.rank || peer->said_last ||
            MPI_Test(&peer->beat, &over, MPI_STATUS_IGNORE) != MPI_SUCCESS || !over)
            continue;
        peer->beat_value = own_value(j);
        if (MPI_Isend(&peer->beat_value, 1, MPI_UINT32_T, (int)q, TAG, j->beats, &peer->beat) !=
            MPI_SUCCESS)
            peer->beat = MPI_REQUEST_NULL;
        else
            peer->said_last = peer->beat_value == LAST;
    }
}

static void *run(void *arg)
{
    static const struct timespec pause = {0, BEAT_NS};
    struct joined *j = arg;
    pthread_mutex_lock(&j->lock);
    while (!j->ended) {
        beats_hear(j);
        send_beats(j);
        pthread_mutex_unlock(&j->lock);
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&j->lock);
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

int beats_begin(struct joined *j)
{
    j->listened_s = mpi_now_s();
    expect_beat(j);
    return pthread_create(&j->beater, NULL, run, j) == 0 ? 0 : -1;
}

/* ---- who is silent ---- */

static bool silent(const struct joined *j, uint32_t q, double asked_s)
{
    const struct peer *peer = &j->peers[q];
    double now_s = mpi_now_s(), since_s = peer->heard_s;
    if (q == j->processes.rank || peer->last_heard)
        return false;
    if (asked_s <= 0)
        return now_s - since_s > PROCESSES_SILENT_S;
    since_s = since_s > asked_s ? since_s : asked_s;
    return now_s - since_s > PROCESSES_SILENT_AT_END_S;
}

uint32_t beats_silent(const struct joined *j, double asked_s)
{
    for (uint32_t q = 0; q < j->processes.n; q++)
        if (j->peers[q].lost > 0)
            return j->peers[q].lost;
    for (uint32_t q = 0; q < j->processes.n; q++)
        if (silent(j, q, asked_s))
            return 1 + q;
    return 0;
}

static bool alive(const struct joined *j, uint32_t q)
{
    return j->lost != 1 + q && !silent(j, q, 0);
}

uint32_t beats_first_alive(const struct joined *j)
{
    uint32_t q = 0;
    while (q < j->processes.rank && !alive(j, q))
        q++;
    return q;
}

/* ---- the end ---- */

static bool all_said(const struct joined *j)
{
    for (uint32_t q = 0; q < j->processes.n; q++)
        if (q != j->processes.rank && !j->peers[q].said_last)
            return false;
    return !expects_more(j);
}

int beats_end(struct joined *j)
{
    static const struct timespec pause = {0, 1000000};
    uint32_t lost = 0;
    pthread_mutex_lock(&j->lock);
    j->ending = true;
    while (lost == 0 && !all_said(j)) {
        beats_hear(j);
        send_beats(j);
        lost = beats_silent(j, 0);
        pthread_mutex_unlock(&j->lock);
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&j->lock);
    }
    j->lost = lost;
    j->ended = lost == 0;
    pthread_mutex_unlock(&j->lock);
    if (lost > 0)
        return -1;
    pthread_join(j->beater, NULL);
    for (uint32_t q = 0; q < j->processes.n; q++)
        MPI_Wait(&j->peers[q].beat, MPI_STATUS_IGNORE); // those of a few bytes have gone
    return 0;
}
