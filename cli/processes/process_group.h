// SPDX-License-Identifier: MIT
// The processes that a launcher (mpirun, mpiexec, srun) has started for one run. Process 0 prints
// and writes; the others print only if they fail themselves. Without a launcher no MPI is loaded,
// and the run has one process.
//
// Every process calls processes_join(), processes_agree(), processes_ready(), and at the end
// processes_leave(). One that has found an error before calls processes_leave() at once.
#pragma once

#include <stdbool.h>

#include "collwire/collwire.h"

// Join the others. Returns EXIT_DONE, or another exit code after one message; then the process
// ends without calling anything else here.
int processes_join(void);

// The processes of this run; NULL = this one is alone.
const struct collwire_processes *processes_shared(void);

// True if this process prints and writes results: the run has one process, or this is process 0.
bool processes_writes(void);

// What must be the same in all processes, besides the program.
struct processes_settings {
    const struct collwire_scenario *scenario;
    unsigned threads, tiles;
    bool plain, together;
    double pace_ps;
};

// Compare with the others, before anything is written. Returns true if all can run and have the
// same; if not, process 0 has printed why, and all processes end.
bool processes_agree(const struct processes_settings *mine);

// Returns the `mine` of process 0 in all processes: whether it has opened the files of the results.
bool processes_ready(bool mine);

// Note that this process has got SIGINT or SIGTERM. Safe in a signal handler.
void processes_asked_to_end(void);

// True while this process waits for others. Safe in a signal handler.
bool processes_waits(void);

// End the use of MPI. Returns the exit code of all processes: that of process 0. If another process
// no longer answers, process 0 prints that, and the function does not return.
int processes_leave(int code);
