// SPDX-License-Identifier: MIT
// Collectives that a GPU library such as NCCL runs (collective/executor/), instead of the phases of
// the scheduler.
#pragma once

#include "collective/comm_internal.h"

void executor_use_free(struct communicator *c); // before its job's library

// Member `member` begins its part of collective `in`. If the library cannot run it, the run ends
// with the job's `failure`.
void executor_use_issue(struct communicator *c, struct instance *in, uint32_t member, ps_t now);

// Bytes of the messages of a collective.
uint64_t executor_use_bytes(struct communicator *c, const struct comm_request *request);
