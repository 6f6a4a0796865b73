// SPDX-License-Identifier: MIT
// The rings that RCCL, AMD's library, has for a whole server of eight MI300X. Private to the room.
//
// A server takes its rings from a table, not from a search, and where there are several servers
// from one of four, so that a ring leaves a server by the NIC of the number by which it enters the
// next one.
#pragma once

#include "collective/nccl/members.h"
#include "collective/nccl/nccl_search.h"

enum rccl_table {
    RCCL_SEARCHED, // no table: part of a server
    RCCL_FORWARD,
    RCCL_REVERSED,     // the same rings, the other way round
    RCCL_LAST_BUT_ONE, // of an odd number of servers
    RCCL_LAST,
    RCCL_ONE_SERVER
};

#define RCCL_MESH_GPUS 8 // of a server that has such rings

// Whether RCCL's rules are known for the members; if not, one sentence is written to `error`.
bool rccl_runs_on(const struct nccl_machine *machine, const struct nccl_settings *settings,
                  const struct nccl_members *members, char *error, size_t error_bytes);

// The table of a server of the members.
enum rccl_table rccl_table_of(const struct nccl_members *members, uint32_t server);

// Write the rings of a table, and the trees, whose chains are the forward rings.
void rccl_rings(enum rccl_table table, const struct nccl_wiring *wiring,
                const struct nccl_settings *settings, struct nccl_search *ring,
                struct nccl_search *tree);
