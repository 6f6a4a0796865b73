// SPDX-License-Identifier: MIT
// The state of the module over MPI, for its own files. Its functions are called under `lock`.
#pragma once

#include <mpi.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collwire/processes.h"

// Another process.
struct peer {
    /* the exchange */
    MPI_Request send, receive; // of the piece that is on its way; MPI_REQUEST_NULL = none is
    const unsigned char *out;  // of the caller
    size_t n_out, sent, n_in, received; // bytes in all, and those of pieces that were begun
    bool sends, receives;               // not done
    unsigned char *in;                  // the bytes that did not fit into the first piece
    size_t room;                        // bytes of `in`
    /* beats */
    MPI_Request beat; // the last one that was sent
    uint32_t beat_value;
    bool said_last, last_heard; // the last beat to it was sent; its own has arrived
    uint32_t lost;  // 1 + the number of the silent process that it has reported; 0 = none
    double heard_s; // its last sign of life
};

struct joined {
    struct collwire_processes processes;
    MPI_Comm data, beats;
    uint32_t sharers;
    const volatile sig_atomic_t *asked;
    pthread_mutex_t lock;
    struct peer *peers;                  // [n]
    unsigned char *first_out, *first_in; // [n] first pieces
    pthread_t beater;
    MPI_Request hearing; // the next beat of any process
    uint32_t heard_value;
    double listened_s;
    uint32_t lost; // 1 + a process that this one has given up on; 0 = none
    bool ending, ended;
};

double mpi_now_s(void); // on the monotonic clock

// Like realloc(), but ends the job if there is no memory.
void *mpi_memory(void *old, size_t bytes);

/* ---- pieces.c ---- */

void pieces_make(struct joined *j);
void pieces_free(struct joined *j);
// Begin to send out[] and to receive. Returns 0, or 1 + a process that cannot be reached.
uint32_t pieces_begin(struct joined *j, const struct collwire_bytes *out);
// Advance the transfers in progress; *done is set when all have ended. Returns as pieces_begin().
uint32_t pieces_poll(struct joined *j, bool *done);
// When pieces_poll() has set *done: point in[q] to the bytes received from each other process q.
void pieces_end(struct joined *j, struct collwire_bytes *in);

/* ---- beats.c ---- */

// Start the thread that sends beats. Returns 0, or -1 if there is none.
int beats_begin(struct joined *j);
// Receive the beats that have arrived.
void beats_hear(struct joined *j);
// Returns 1 + the number of a process that is silent, or that another process has reported as
// silent, or 0 if there is none. asked_s: time at which this process noticed SIGINT or SIGTERM; 0 =
// it got none.
uint32_t beats_silent(const struct joined *j, double asked_s);
// The lowest number of a process that is not silent.
uint32_t beats_first_alive(const struct joined *j);
// Send the last beats, wait for those of the others, and end the thread; takes the lock itself.
// Returns 0, or -1 if a process is silent.
int beats_end(struct joined *j);
