// SPDX-License-Identifier: MIT
// What a communicator gets from NCCL: its channels, and on each of them the neighbours of every
// rank in the ring and in the trees, with the NICs between servers.
//
// A rank is an index into the members. Servers count in the order of their first rank. All servers
// are the same machine, but a communicator may use different GPUs of each: then the topology
// search runs for every distinct set of GPUs, and the poorest result holds for all, as in
// init.cc (initTransportsRank). A NIC is an index into the NICs of the machine; the proxy of a
// rank is the rank whose process drives the NIC, another one than the sender under PXN.
#pragma once

#include <stddef.h>

#include "collective/nccl/channels.h"
#include "collective/nccl/environment.h"
#include "collective/nccl/nccl.h"
#include "collective/nccl/nccl_machine.h"

#define NCCL_NONE (-1)

struct nccl_member {
    uint32_t server; // any number
    uint32_t gpu;    // index among the GPUs of the machine
};

struct nccl_layout {
    struct nccl_cluster cluster;
    struct nccl_channels channels;
    struct nccl_layout_data *data; // owned
};

// Ranks, and NICs or NCCL_NONE where the neighbour is in the same server.
struct nccl_ring_links {
    int32_t previous, next;
    int32_t receive_nic;
    int32_t send_nic, send_proxy;
};

// Ranks, or NCCL_NONE. The NIC and its proxy are those of the rank's links to other servers, up and
// down; NCCL_NONE without such a link.
struct nccl_tree_links {
    int32_t up, down[3];
    int32_t nic, proxy;
};

// Of NVLSTree: `head` is the part of a channel that the rank reduces with other servers, NCCL_NONE
// if the rank is no head and has no links.
struct nccl_nvls_links {
    int32_t head;
    int32_t up, down[2];
    int32_t nic, proxy;
};

// Of a message between two ranks outside any algorithm.
struct nccl_p2p_links {
    int32_t send_nic, send_proxy;
    int32_t receive_nic;
};

// Makes the layout of `n` members; free it with nccl_layout_free(). Returns false, with one
// sentence in `error` and nothing to free, where the members have no place in the machine, or two
// of them the same one, or their GPUs reach each other by no path.
bool nccl_layout_init(struct nccl_layout *layout, const struct nccl_machine *machine,
                      const struct nccl_settings *settings, const struct nccl_member *members,
                      uint32_t n, char *error, size_t error_bytes);
void nccl_layout_free(struct nccl_layout *layout);

// Links of a rank on a channel below layout->channels.all.
struct nccl_ring_links nccl_layout_ring(const struct nccl_layout *layout, uint32_t channel,
                                        uint32_t rank);
struct nccl_tree_links nccl_layout_tree(const struct nccl_layout *layout, uint32_t channel,
                                        uint32_t rank);

// Links of a rank on a channel of NVLSTree; a cluster without NVLS has no heads.
struct nccl_nvls_links nccl_layout_nvls(const struct nccl_layout *layout, uint32_t channel,
                                        uint32_t rank);
uint32_t nccl_layout_nvls_heads(const struct nccl_layout *layout);

// NICs of a message from `rank` to `peer` in another server, on a channel below
// layout->channels.p2p.
struct nccl_p2p_links nccl_layout_p2p(const struct nccl_layout *layout, uint32_t channel,
                                      uint32_t rank, uint32_t peer);
