// SPDX-License-Identifier: MIT
// How the processes of one simulation reach each other. Each process simulates a part of the
// network; all of them hold the scenario, the programs and the messages, and call the same
// functions in the same order. The program that starts them provides the exchange, such as one over
// MPI; every process of a run must have the same program, scenario and settings.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct collwire_bytes {
    const void *data;
    size_t n;
};

struct collwire_processes {
    uint32_t n;    // processes, numbered from 0
    uint32_t rank; // number of this one; process 0 has the results
    // Send out[q] to each process q, and receive in[q] from each; out[rank] and in[rank] are not
    // used. What in[] refers to stays valid until the next call. All processes make the same
    // sequence of calls. Returns 0, or 1 + the number of a process that has not answered for long:
    // then the run ends, and no further call follows.
    uint32_t (*exchange)(void *ctx, const struct collwire_bytes *out, struct collwire_bytes *in);
    void *ctx;
};

#ifdef __cplusplus
}
#endif
