// SPDX-License-Identifier: MIT
// The library that runs the collectives of a job: which one, on which machine, with which settings.
#pragma once

#include "collective/nccl/host_cost.h"
#include "collective/nccl/machine.h"
#include "collective/nccl/settings.h"

struct xml_algorithm; // collective/nccl/xml/algorithm.h
struct mpi_settings;  // collective/mpi/mpi.h

struct executor_spec {
    const struct nccl_machine *machine; // NULL = no library, or MPI
    const struct mpi_settings *mpi;     // Open MPI, on any network; belongs to the scenario
    // The algorithm of a file, which belongs to the scenario and runs in place of those that NCCL
    // would choose, with the most that goes at once (0 = as MSCCL); NULL = NCCL's own.
    const struct xml_algorithm *xml;
    const char *xml_file;
    uint64_t xml_piece_bytes;
    struct nccl_settings settings;
    struct nccl_host_cost cost;
    // CollNet: the collectives are phases of the job's schedule, between servers by switches that
    // add; else the library runs them by its own blocks.
    bool by_switches;
    // GPUs of a server in the network: ranks k * gpus to (k + 1) * gpus - 1 are a server's.
    uint32_t gpus;
};

static inline bool executor_is_given(const struct executor_spec *spec)
{
    return spec->machine != NULL || spec->mpi != NULL;
}

// The word of its kind in scenarios and results.
static inline const char *executor_kind(const struct executor_spec *spec)
{
    return spec->mpi != NULL     ? "mpi"
           : spec->xml != NULL   ? "xml"
           : spec->settings.rccl ? "rccl"
                                 : "nccl";
}
