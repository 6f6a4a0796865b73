// SPDX-License-Identifier: MIT
// What the packets of a capture say of each address, beside its messages.
#pragma once

#include "cli/replay/dissect.h"
#include "engine/base/table.h"

struct captured_host {
    struct address address;
    uint64_t sent, received; // packets of UDP and TCP
    uint64_t cnps_sent, cnps_received;
    uint64_t marks; // packets that it received with a mark of congestion
    uint64_t again; // packets that it sent more than once
};

struct captured_hosts {
    struct captured_host *list;
    size_t n, cap;
    struct table number_of; // an address
    uint64_t packets;       // that were noted
};

// Note a packet; `skip` is why it carries nothing new, or SKIP_NONE.
void captured_host_note(struct captured_hosts *hosts, const struct datagram *d, enum skip skip);
// The hosts that all packets have in common: the one at whose port the capture was made, or both of
// a pair that talks alone. Writes at most two; returns how many there are.
size_t captured_hosts_common(const struct captured_hosts *hosts,
                             const struct captured_host *common[2]);
void captured_hosts_free(struct captured_hosts *hosts);
