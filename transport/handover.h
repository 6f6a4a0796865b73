// SPDX-License-Identifier: MIT
// The state of hosts at the end of a run in several processes, as their owners hand it to the
// process that reports the results (engine/parcel.h): counters, NICs, and those parts of flows that
// reports read, which are the description, the window and pace, the policy, and the messages that
// have not ended.
#pragma once

#include "engine/parcel.h"
#include "transport/host.h"

// Counters that are sums over all hosts and dimensions. Both processes must have united their
// shards before the call (hosts_unite()).
void hosts_hand_over(struct parcel *p, struct hosts *hosts);

// The number of flows that a rank has opened.
void rank_hand_over(struct parcel *p, struct hosts *hosts, uint32_t rank);

// Which classes of a NIC port are stopped at this time, and by which cause.
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

// The receiver of a flow. The reader must already have the flow's description; it creates the
// receiver unless it has one.
void receiver_hand_over(struct parcel *p, const struct hosts_of *hosts, uint32_t flow);
