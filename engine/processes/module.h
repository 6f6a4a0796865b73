// SPDX-License-Identifier: MIT
// The module that joins the processes of one run: a shared object beside the library, which the
// program loads only where a launcher has started it. It exports one symbol, PROCESSES_MODULE, of
// type struct processes_module. Its functions are called by the program's first thread.
#pragma once

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "collwire/processes.h"

#define PROCESSES_MODULE "collwire_processes_module"

// A process that has sent nothing for so many seconds of wall time counts as silent. The time is
// shorter after a signal that ends this process: Open MPI's mpirun sends SIGTERM to all processes
// and kills them a second later (odls_base_sigkill_timeout), and process 0 writes the results
// before that.
#define PROCESSES_SILENT_S 10.0
#define PROCESSES_SILENT_AT_END_S 0.5

struct processes_module {
    size_t bytes;         // sizeof(struct processes_module), as the module was compiled
    const char *version;  // of collwire; the program and its module are of one version
    const char *standard; // what it uses, for messages: "Open MPI v4.1.4"

    // Initialise MPI. Every process that the launcher has started calls this once. `asked` points
    // to the flag that the program's handler of SIGINT and SIGTERM sets to 1; the module reads it
    // while it waits for other processes. Returns the processes of the run (there may be only one),
    // or NULL with the reason in `why`, a buffer of `room` bytes.
    const struct collwire_processes *(*join)(const volatile sig_atomic_t *asked, char *why,
                                             size_t room);
    // Processes of the run on this machine, this one included.
    uint32_t (*sharers)(void);
    // The lowest number of a process that is not silent.
    uint32_t (*first_alive)(void);
    // Leave after the last exchange, which all processes do. No other function is called then.
    void (*leave)(void);
    // After an exchange has failed: end this process with exit status `code`, and with it the
    // others. The first process that is not silent does so, so that process 0 can write what it
    // has.
    void (*give_up)(int code);
};
