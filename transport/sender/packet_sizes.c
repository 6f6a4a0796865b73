// SPDX-License-Identifier: MIT
// The size of a frame on the link: FCS 4 bytes, then 20 bytes of preamble and inter-packet gap
// (IEEE 802.3). A custom overhead covers all bytes beyond the payload, as other simulators count
// them.
#include "transport/transport_spec.h"

enum {
    FCS = 4,
    GAP = 20,       // preamble 7, start delimiter 1, inter-packet gap 12
    MIN_FRAME = 64, // FCS included
};

struct packet_sizes packet_sizes_of(const struct transport_spec *t, uint32_t frame,
                                    uint32_t custom_bytes)
{
    if (t->overhead == OVERHEAD_CUSTOM) {
        // At least one byte: packets that take no time would have no defined order on links without
        // delay.
        uint32_t all = custom_bytes > 0 ? custom_bytes : 1;
        return (struct packet_sizes){all, all};
    }
    if (t->overhead == OVERHEAD_NONE)
        return (struct packet_sizes){frame, frame};
    frame = frame + FCS < MIN_FRAME ? MIN_FRAME : frame + FCS;
    return (struct packet_sizes){frame, frame + GAP};
}

struct packet_sizes packet_sizes_of_frame(const struct transport_spec *t, uint32_t frame_bytes)
{
    bool gap = t->overhead == OVERHEAD_ETHERNET;
    return (struct packet_sizes){frame_bytes, frame_bytes + (gap ? GAP : 0)};
}
