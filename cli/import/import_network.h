// SPDX-License-Identifier: MIT
// Networks for imported jobs: that of a scenario of the user's, or one by what is known.
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "collective/nccl/nccl_machine.h"
#include "engine/base/err.h"

// A scenario without its jobs, name and captures, or the topology of a network of others, as the
// scenario `output` names it; NULL with errors.
json_t *network_given(const char *file, const char *output, struct err *err);

// Whether ids of nodes of HPCC's ns-3 are ranks in its network: its hosts are nodes 0 to N - 1.
// True for files of other kinds. Returns -1 with an error where the file cannot be read.
int network_ids_are_ranks(const char *file, struct err *err);

// The topology of `ranks` GPUs in servers of a kind with `gpus` GPUs each, a divisor of `ranks`.
json_t *network_of_machine(const struct nccl_machine *machine, uint32_t ranks, uint32_t gpus);

// Servers of `per_server` GPUs, a divisor of `ranks`, whose kind is not known: NVLink of the fourth
// generation inside (450 GB/s a direction: NVIDIA H100 datasheet), and one rail of 400 Gb/s for
// each GPU, which do not block.
json_t *network_of_gpus(uint32_t ranks, uint32_t per_server);

// Hosts at leaves and spines of 100 Gb/s that do not block, or at one switch where the number does
// not divide.
json_t *network_of_hosts(uint32_t ranks);
