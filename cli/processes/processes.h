// SPDX-License-Identifier: MIT
// This process among those that a launcher (mpirun, mpiexec, srun) has started for one run.
// Process 0 prints and writes; the others do neither, but for a failure of their own. Without a
// launcher nothing is loaded, and this process is alone.
//
// Every process calls processes_join(), processes_agree() or processes_leave() after a mistake,
// then processes_ready(), and at the end processes_leave().
#pragma once

#include <stdbool.h>

#include "collwire/collwire.h"

// Join the others. Returns EXIT_DONE, or another exit code after one message; then the process
// ends without calling anything else here.
int processes_join(void);

// The processes of this run; NULL = this one is alone.
const struct collwire_processes *processes_shared(void);

// True if this process prints and writes: it is alone, or process 0.
bool processes_writes(void);

// What must be the same in all processes, besides the program.
struct processes_settings {
    const struct collwire_scenario *scenario;
    unsigned threads, tiles;
    bool plain;
    double pace_ps;
};

// Compare with the others, before anything is written. Returns true if all can run and have the
// same; if not, process 0 has printed why, and all processes end.
bool processes_agree(const struct processes_settings *mine);

// Returns true if process 0 is ready, whose answer is `mine`: its results can be written.
bool processes_ready(bool mine);

// This process has been asked to end. Safe in a signal handler.
void processes_asked_to_end(void);

// True while this process waits for others. Safe in a signal handler.
bool processes_waits(void);

// Returns the exit code of all processes: that of process 0. If another process no longer answers,
// process 0 prints that, and the program ends in here.
int processes_leave(int code);
