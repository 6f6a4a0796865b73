// SPDX-License-Identifier: MIT
// The state of hosts at the end of a run in several processes, as their owners hand it to the
// process that reports the results (engine/parcel.h): counters, NICs, and of flows what reports
// read: the description, the window and pace, the policy, and the messages that have not ended.
#pragma once

#include "engine/parcel.h"
#include "transport/host.h"

// Sums over all hosts and dimensions. The shards of both are united.
void hosts_hand_over(struct parcel *p, struct hosts *hosts);

// The number of flows that a rank has opened.
void rank_hand_over(struct parcel *p, struct hosts *hosts, uint32_t rank);

// What stops the classes of a NIC port now.
void nic_port_hand_over(struct parcel *p, struct hosts *hosts, uint32_t port);

// The counters of adapter number `index`.
void adapter_hand_over(struct parcel *p, struct hosts *hosts, uint32_t index);

// The flow with this handle, without its receiver. The reader opens a flow in its own tables,
// whatever the handle in the parcel, and returns the new handle. `hosts` of the reader are those of
// the shard of the flow's source, from `of`.
struct hosts_of {
    struct hosts *(*of)(void *ctx, uint32_t rank);
    void *ctx;
};
uint32_t flow_hand_over(struct parcel *p, const struct hosts_of *hosts, uint32_t flow);

// The receiver of a flow, whose description the reader has: it makes one, unless it has it.
void receiver_hand_over(struct parcel *p, const struct hosts_of *hosts, uint32_t flow);
