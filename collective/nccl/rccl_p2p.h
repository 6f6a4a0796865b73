// SPDX-License-Identifier: MIT
// RCCL's order of the exchanges of a rank, the channels of each pair and its messages. Private to
// the room: p2p.h calls it.
#pragma once

#include "collective/nccl/p2p.h"

void rccl_p2p_rounds(const struct nccl_p2p *p, uint32_t rank, struct nccl_round *rounds);
uint32_t rccl_p2p_channel(const struct nccl_p2p *p, const struct nccl_round *round, uint32_t part);
struct nccl_p2p_split rccl_p2p_split(const struct nccl_p2p *p, uint64_t bytes,
                                     uint64_t chunk_bytes);
