// SPDX-License-Identifier: MIT
// The shared-buffer memory management (MMU) of one switch. It only does the accounting, without
// packets and without a clock.
//
// The buffer is split into a reserve per (ingress port, class in use), headroom per (ingress port,
// lossless class), and the shared remainder B. An ingress fills its reserve first, then shared
// buffer. If its shared bytes would exceed alpha * free shared bytes, it goes to XOFF and fills its
// headroom. With n ingresses at the threshold, each holds alpha*B / (1 + n*alpha) shared bytes
// (Choudhury & Hahne, ToN 1998). The rules of admission and release follow the switch of the HPCC
// simulator (Li et al., SIGCOMM 2019), except for the size of the headroom.
#pragma once

#include "engine/base/units.h"

// 32-bit counts cover any real buffer (below 4 GB) and keep an ingress within half a cache line.
struct mmu_ingress {
    uint32_t bytes;          // bytes in reserve and shared buffer
    uint32_t headroom_bytes; // bytes in headroom
    /* config */
    uint32_t headroom_limit; // 0 = lossy class
    /* counters */
    uint32_t max_bytes, max_headroom_bytes;
    /* state */
    bool xoff; // XOFF has been sent; XON is due
};

#define MMU_CLASSES 8

// The length of an egress queue, without the packet in transmission.
struct mmu_queue {
    uint64_t packets, bytes;
};

struct mmu_config {
    uint64_t buffer_bytes, reserve_bytes, xon_offset_bytes;
    double alpha, lossy_alpha; // alpha of classes with and without headroom
    // fixed limit of a lossy class's egress queues, in place of the dynamic threshold; a member of
    // 0 limits nothing
    struct mmu_queue queue_limit;
};

struct mmu {
    /* state */
    struct mmu_ingress *ingress; // [port * n_classes + class index], owned by the caller
    uint64_t shared_used, max_shared_used;
    uint32_t n_xoff; // number of ingresses in XOFF
    /* config */
    uint32_t n_classes;
    uint8_t limited;       // bit set of class indices: their queues have a fixed limit
    uint64_t shared_bytes; // B: the buffer without all reserves and headrooms
    struct mmu_config config;
    struct mmu_queue
        limit[MMU_CLASSES];    // of lossy classes, by class index; mmu_set_limit() changes it
    double alpha[MMU_CLASSES]; // by class index, initialised from config; may be changed before the
                               // first packet
};

// From MMU_DROP on the packet is dropped. MMU_DROP_LIMIT: the egress queue of a lossy class is at
// its fixed limit.
enum mmu_verdict {
    MMU_ADMIT,
    MMU_ADMIT_XOFF,
    MMU_DROP,
    MMU_DROP_XOFF,
    MMU_DROP_LIMIT,
    MMU_DROP_RED, // decided by the switch before mmu_admit()
};

// Initialise *mmu and return the size of the shared buffer, or 0 if reserve and headroom exceed the
// buffer. The caller must have set headroom_limit of all ingresses. At most MMU_CLASSES classes.
uint64_t mmu_init(struct mmu *mmu, const struct mmu_config *config, struct mmu_ingress *ingress,
                  uint32_t n_ports, uint32_t n_classes);

// Returns slice `slice` of `n` of a buffer that holds nothing yet: an equal part of the buffer, in
// which only the ports whose number modulo n is `slice` have reserve and headroom. It shares
// ingress[] with the whole buffer. Its shared_bytes are 0 where reserve and headroom exceed it.
struct mmu mmu_slice(const struct mmu *whole, uint32_t n_ports, uint32_t slice, uint32_t n);

// Give the queues of a lossy class a limit of their own.
void mmu_set_limit(struct mmu *mmu, uint32_t cls, struct mmu_queue limit);

// Admit or drop a packet of `bytes` that arrived by (port, cls) for the queue `egress`. The
// verdicts with _XOFF also require that the sender is paused from now on.
enum mmu_verdict mmu_admit(struct mmu *mmu, uint32_t port, uint32_t cls, uint32_t bytes,
                           struct mmu_queue egress);

// Fast admission of a packet of a lossless class. Returns true, and admits the packet, only if it
// causes neither XOFF nor a new maximum. This is safe while departures of the switch are still to
// be computed, because they can only lower the occupancy. If it returns false nothing has changed;
// the caller must let all ports of the switch catch up and call mmu_admit().
static inline bool mmu_admit_fast(struct mmu *mmu, uint32_t port, uint32_t cls, uint32_t bytes)
{
    struct mmu_ingress *in = &mmu->ingress[port * mmu->n_classes + cls];
    uint64_t reserve = mmu->config.reserve_bytes, total = (uint64_t)in->bytes + bytes;
    uint64_t before = in->bytes > reserve ? in->bytes - reserve : 0;
    uint64_t after = total > reserve ? total - reserve : 0;
    uint64_t used = mmu->shared_used + (after - before);
    if (in->headroom_limit == 0 || in->headroom_bytes > 0 || total > in->max_bytes ||
        used > mmu->max_shared_used)
        return false;
    int64_t free = (int64_t)(mmu->shared_bytes - mmu->shared_used);
    if (after > 0 &&
        ((int64_t)after > (int64_t)(mmu->alpha[cls] * (double)free) || used > mmu->shared_bytes))
        return false;
    in->bytes = (uint32_t)total;
    mmu->shared_used = used;
    return true;
}

// Fast admission of a packet of a lossy class to its egress queue, which must have caught up.
bool mmu_admit_lossy_fast(struct mmu *mmu, uint32_t port, uint32_t cls, uint32_t bytes,
                          struct mmu_queue egress);

// Admit a packet of a lossy class in place of one that has been released, whatever the limit of
// their queue. Returns false if the buffer has no room for it.
bool mmu_readmit(struct mmu *mmu, uint32_t port, uint32_t cls, uint32_t bytes);

// Take or give back bytes of a lossless ingress's headroom, which flow control by credits has
// reserved.
void mmu_take_reserved(struct mmu *mmu, uint32_t port, uint32_t cls, uint32_t bytes);
void mmu_give_reserved(struct mmu *mmu, uint32_t port, uint32_t cls, uint32_t bytes);

// Release a packet that arrived by (port, cls). Returns true if an XON must be sent for its
// ingress.
bool mmu_release(struct mmu *mmu, uint32_t port, uint32_t cls, uint32_t bytes);

// Occupancy of an ingress and its present limit, from which a lossless class goes to XOFF; both
// include the reserve.
struct mmu_level {
    uint64_t bytes, limit_bytes;
};
struct mmu_level mmu_ingress_level(const struct mmu *mmu, uint32_t port, uint32_t cls);

// The level at which mmu_admit() has just dropped a packet for the queue `egress`: occupancy and
// size of a lossless ingress's headroom, or length and limit of a lossy class's queue.
struct mmu_level mmu_drop_level(const struct mmu *mmu, uint32_t port, uint32_t cls,
                                struct mmu_queue egress);

// Returns the bytes of shared buffer that an ingress holds.
uint64_t mmu_ingress_shared(const struct mmu *mmu, uint32_t port, uint32_t cls);

// Headroom that a lossless ingress needs to lose nothing after XOFF (IEEE 802.1Qbb annex O): the
// bytes already on the link, and those of packets that the sender starts to transmit before the
// pause frame takes effect.
struct headroom_link {
    uint64_t rate_bps, back_rate_bps; // of the sender, and of the pause frame's direction
    ps_t delay_ps, back_delay_ps, response_ps;
    uint32_t max_frame_in;   // largest data frame of the sender, in wire bytes
    uint32_t max_frame_back; // largest frame of any class that may delay the pause frame, in wire
                             // bytes
    uint32_t pfc_wire_bytes; // wire bytes of one PFC frame
    uint32_t pfc_ahead;      // PFC frames that may be queued before this one
};
uint64_t mmu_headroom_bytes(const struct headroom_link *link);
