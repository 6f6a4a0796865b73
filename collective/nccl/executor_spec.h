// SPDX-License-Identifier: MIT
// The settings of the library that runs the collectives of a job (NCCL, RCCL or Open MPI): its
// kind, its machine and its own settings.
#pragma once

#include "collective/nccl/environment.h"
#include "collective/nccl/host_cost.h"
#include "collective/nccl/nccl_machine.h"

struct nccl_known;    // collective/nccl/known.h
struct xml_algorithm; // collective/nccl/xml/algorithm.h
struct mpi_settings;  // collective/mpi/mpi.h

struct executor_spec {
    const struct nccl_machine *machine; // NULL = no library, or MPI
    // The communicators of the groups that were checked when the scenario was read, which owns
    // them; runs, also several at once, only look them up. NULL = MPI, or no library.
    struct nccl_known *known;
    const struct mpi_settings *mpi; // Open MPI, on any network; belongs to the scenario
    // An algorithm from a file, which the scenario owns and which replaces the algorithms that NCCL
    // would choose; NULL = NCCL chooses. xml_piece_bytes is the largest piece that is sent at once
    // (0 = as MSCCL cuts).
    const struct xml_algorithm *xml;
    const char *xml_file;
    uint64_t xml_piece_bytes;
    struct nccl_settings settings;
    struct nccl_host_cost cost;
    // CollNet: collectives run as phases of the job's schedule, and switches reduce the data
    // between servers. Otherwise the library's own thread blocks run the collectives.
    bool by_switches;
    // GPUs of each server in the network: ranks k * gpus to (k + 1) * gpus - 1 are server k.
    uint32_t gpus;
};

static inline bool executor_is_given(const struct executor_spec *spec)
{
    return spec->machine != NULL || spec->mpi != NULL;
}

// The name of the executor's kind in scenarios and results.
static inline const char *executor_kind(const struct executor_spec *spec)
{
    return spec->mpi != NULL     ? "mpi"
           : spec->xml != NULL   ? "xml"
           : spec->settings.rccl ? "rccl"
                                 : "nccl";
}
