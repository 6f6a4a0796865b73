// SPDX-License-Identifier: MIT
// Shared-buffer memory management of one switch: pure accounting, it knows no packet and no clock.
//
// The buffer is split: a reserve per (ingress port, class in use), headroom per (ingress port,
// lossless class), and the shared rest B. An ingress's bytes fill its reserve, then shared; once its
// shared bytes would pass alpha * free it is in XOFF and fills its headroom. With n ingresses held
// at the threshold each settles at alpha*B / (1 + n*alpha) of shared bytes (Choudhury & Hahne, ToN
// 1998). The rules of admission and release follow the HPCC simulator's switch (Li et al., SIGCOMM
// 2019), but for the headroom's size.
#pragma once

#include "engine/units.h"

// 32 bits hold any real buffer (below 4 GB) and keep an ingress within half a cache line.
struct mmu_ingress {
    uint32_t bytes;          // in reserve and shared
    uint32_t headroom_bytes; // in headroom
    /* config */
    uint32_t headroom_limit; // 0 = a lossy class
    /* counters */
    uint32_t max_bytes, max_headroom_bytes;
    /* state */
    bool xoff; // pause is asked of the sender
};

#define MMU_CLASSES 8

struct mmu_config {
    uint64_t buffer_bytes, reserve_bytes, xon_offset_bytes;
    double alpha, lossy_alpha; // of classes with headroom, and without
};

struct mmu {
    /* state */
    struct mmu_ingress *ingress; // [port * n_classes + cls index], owned by the caller
    uint64_t shared_used, max_shared_used;
    uint32_t n_xoff; // ingresses in XOFF
    /* config */
    uint32_t n_classes;
    uint64_t shared_bytes; // B; all reserves and headrooms are taken off
    struct mmu_config config;
    double alpha[MMU_CLASSES]; // by class index, as config says; may be changed before use
};

enum mmu_verdict { MMU_ADMIT, MMU_ADMIT_XOFF, MMU_DROP, MMU_DROP_XOFF };

// Bytes left for sharing, or 0 when reserve and headroom exceed the buffer. Call once after every
// ingress's headroom_limit is set; at most MMU_CLASSES classes.
uint64_t mmu_init(struct mmu *mmu, const struct mmu_config *config, struct mmu_ingress *ingress,
                  uint32_t n_ports, uint32_t n_classes);

// A packet of `bytes` came by (port, cls) and goes to an egress queue that holds `egress_bytes`.
// MMU_ADMIT_XOFF: admitted, and the sender must be paused from now on.
enum mmu_verdict mmu_admit(struct mmu *mmu, uint32_t port, uint32_t cls, uint32_t bytes,
                           uint64_t egress_bytes);

// Admit a packet of a lossless class if that brings neither XOFF nor a new high-water mark. What is
// true here stays true when packets that have left are still to be released, so a switch whose ports
// are not settled may go on by it; false changes nothing and asks for settling first.
static inline bool mmu_admit_plainly(struct mmu *mmu, uint32_t port, uint32_t cls, uint32_t bytes)
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

// A packet that came by (port, cls) leaves. True: the sender may resume.
bool mmu_release(struct mmu *mmu, uint32_t port, uint32_t cls, uint32_t bytes);

// Bytes of shared buffer an ingress holds.
uint64_t mmu_ingress_shared(const struct mmu *mmu, uint32_t port, uint32_t cls);

// Headroom a lossless ingress needs so that nothing is lost after XOFF (IEEE 802.1Qbb annex O): what
// is on the wire and what the sender still starts, until the pause frame is obeyed.
struct headroom_link {
    uint64_t rate_bps;
    ps_t delay_ps, response_ps;
    uint32_t max_frame_in;   // largest data frame (wire) of the sender
    uint32_t max_frame_back; // largest frame (wire) of any class that may delay the pause frame
    uint32_t pfc_wire_bytes; // of one PFC frame
    uint32_t pfc_ahead;      // PFC frames that may wait before this one
};
uint64_t mmu_headroom_bytes(const struct headroom_link *link);
