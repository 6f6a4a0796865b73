// SPDX-License-Identifier: MIT
// Processes of one run over MPI (MPI Forum, "MPI: A Message-Passing Interface Standard", version
// 3.1, 2015).
//
// An exchange sends each process one message of a fixed size, with the number of bytes and the
// first of them, and then the rest in pieces (engine/processes/pieces.c). All requests are
// nonblocking and are polled, so that this process can give up on one that is silent.
//
// A process may compute for long between two exchanges. So a thread of each process sends a beat to
// all others ten times a second on a communicator of its own (engine/processes/beats.c). All calls
// of MPI are under one lock, and none of them waits: MPI_THREAD_SERIALIZED is enough.
#include <mpi.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/processes/module.h"
#include "engine/processes/mpi_internal.h"

#define YIELDS 500             // polls before a process that waits begins to sleep
#define SLEEP_LEAST_NS 20000.0 // the longest is an eighth of the time waited so far, at most
#define SLEEP_MOST_NS 1e6

static struct joined joined;

double mpi_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void *mpi_memory(void *old, size_t bytes)
{
    void *p = realloc(old, bytes);
    if (!p) {
        fprintf(stderr, "collwire: process %u has no memory for %zu bytes of another one\n",
                joined.processes.rank, bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
        _exit(1);
    }
    return p;
}

// Let other threads and processes run: there may be more of them than cores.
static void rest(unsigned polls, double waited_s)
{
    double ns = waited_s * 1e9 / 8;
    if (polls < YIELDS || ns < SLEEP_LEAST_NS) {
        sched_yield();
        return;
    }
    struct timespec t = {0, (long)(ns < SLEEP_MOST_NS ? ns : SLEEP_MOST_NS)};
    nanosleep(&t, NULL);
}

/* ---- an exchange ---- */

static uint32_t exchange(void *ctx, const struct collwire_bytes *out, struct collwire_bytes *in)
{
    struct joined *j = ctx;
    double began_s = mpi_now_s(), asked_s = 0;
    bool done = false;
    pthread_mutex_lock(&j->lock);
    uint32_t lost = pieces_begin(j, out);
    for (unsigned polls = 0; lost == 0 && !done; polls++) {
        lost = pieces_poll(j, &done);
        if (lost == 0 && !done) {
            double now_s = mpi_now_s();
            if (*j->asked && asked_s <= 0)
                asked_s = now_s;
            beats_hear(j);
            lost = beats_silent(j, asked_s);
            pthread_mutex_unlock(&j->lock);
            rest(polls, now_s - began_s);
            pthread_mutex_lock(&j->lock);
        }
    }
    j->lost = lost;
    if (lost == 0)
        pieces_end(j, in);
    pthread_mutex_unlock(&j->lock);
    return lost;
}

/* ---- the beginning ---- */

static uint32_t processes_on_this_machine(void)
{
    MPI_Comm here;
    int n = 1;
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here) ==
        MPI_SUCCESS) {
        MPI_Comm_size(here, &n);
        MPI_Comm_free(&here);
    }
    return (uint32_t)n;
}

static MPI_Comm own_communicator(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm); // its errors end the job: nothing has begun
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

static void make_peers(struct joined *j)
{
    double now_s = mpi_now_s();
    j->peers = mpi_memory(NULL, j->processes.n * sizeof *j->peers);
    for (uint32_t q = 0; q < j->processes.n; q++)
        j->peers[q] = (struct peer){.send = MPI_REQUEST_NULL,
                                    .receive = MPI_REQUEST_NULL,
                                    .beat = MPI_REQUEST_NULL,
                                    .heard_s = now_s};
    pieces_make(j);
}

static const struct collwire_processes *join_all(const volatile sig_atomic_t *asked, char *why,
                                                 size_t room)
{
    struct joined *j = &joined;
    int provided, n, rank;
    j->asked = asked;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) {
        snprintf(why, room, "MPI_Init_thread() failed");
        return NULL;
    }
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    j->processes = (struct collwire_processes){
        .n = (uint32_t)n, .rank = (uint32_t)rank, .exchange = exchange, .ctx = j};
    if (n == 1)
        return &j->processes;
    if (provided < MPI_THREAD_SERIALIZED) {
        snprintf(why, room, "this MPI lets no second thread call it (MPI_THREAD_SERIALIZED)");
        return NULL;
    }
    j->sharers = processes_on_this_machine();
    j->data = own_communicator();
    j->beats = own_communicator();
    make_peers(j);
    pthread_mutex_init(&j->lock, NULL);
    if (beats_begin(j) == 0)
        return &j->processes;
    snprintf(why, room, "no thread could be started");
    return NULL;
}

// Signals go to the threads of the program, not to those that are started here or by MPI.
static const struct collwire_processes *join(const volatile sig_atomic_t *asked, char *why,
                                             size_t room)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const struct collwire_processes *processes = join_all(asked, why, room);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return processes;
}

static uint32_t sharers(void) { return joined.sharers; }

/* ---- the end ---- */

static uint32_t first_alive(void)
{
    struct joined *j = &joined;
    pthread_mutex_lock(&j->lock);
    uint32_t first = beats_first_alive(j);
    pthread_mutex_unlock(&j->lock);
    return first;
}

static void give_up(int code)
{
    struct joined *j = &joined;
    pthread_mutex_lock(&j->lock);
    while (beats_first_alive(j) < j->processes.rank) {
        beats_hear(j);
        pthread_mutex_unlock(&j->lock);
        rest(YIELDS, 1);
        pthread_mutex_lock(&j->lock);
    }
    MPI_Abort(MPI_COMM_WORLD, code);
    _exit(code);
}

static void leave(void)
{
    struct joined *j = &joined;
    if (j->processes.n > 1) {
        if (beats_end(j) != 0)
            give_up(1);
        MPI_Comm_free(&j->data);
        MPI_Comm_free(&j->beats);
        pthread_mutex_destroy(&j->lock);
        pieces_free(j);
        free(j->peers);
    }
    MPI_Finalize();
}

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#if defined OPEN_MPI
#define STANDARD                                                                                   \
    "Open MPI " TEXT(OMPI_MAJOR_VERSION) "." TEXT(OMPI_MINOR_VERSION) "." TEXT(OMPI_RELEASE_VERSION)
#elif defined MPICH_VERSION
#define STANDARD "MPICH " MPICH_VERSION
#else
#define STANDARD "MPI " TEXT(MPI_VERSION) "." TEXT(MPI_SUBVERSION)
#endif

extern const struct processes_module collwire_processes_module;
__attribute__((visibility("default"))) const struct processes_module collwire_processes_module = {
    .bytes = sizeof(struct processes_module),
    .version = COLLWIRE_VERSION,
    .standard = STANDARD,
    .join = join,
    .sharers = sharers,
    .first_alive = first_alive,
    .leave = leave,
    .give_up = give_up,
};
