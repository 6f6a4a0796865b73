// SPDX-License-Identifier: MIT
// Admission and release in the shared buffer.
#include "switch/mmu.h"

static struct mmu_ingress *ingress_of(const struct mmu *mmu, uint32_t port, uint32_t cls)
{
    return &mmu->ingress[port * mmu->n_classes + cls];
}

uint64_t mmu_init(struct mmu *mmu, const struct mmu_config *config, struct mmu_ingress *ingress,
                  uint32_t n_ports, uint32_t n_classes)
{
    *mmu = (struct mmu){.config = *config, .ingress = ingress, .n_classes = n_classes};
    for (uint32_t cls = 0; cls < n_classes; cls++)
        mmu_set_limit(mmu, cls, config->queue_limit);
    uint64_t taken = 0;
    for (uint32_t i = 0; i < n_ports * n_classes; i++)
        taken += config->reserve_bytes + ingress[i].headroom_limit;
    for (uint32_t cls = 0; cls < n_classes; cls++)
        mmu->alpha[cls] = ingress[cls].headroom_limit > 0 ? config->alpha : config->lossy_alpha;
    mmu->shared_bytes = taken < config->buffer_bytes ? config->buffer_bytes - taken : 0;
    return mmu->shared_bytes;
}

struct mmu mmu_slice(const struct mmu *whole, uint32_t n_ports, uint32_t slice, uint32_t n)
{
    struct mmu mmu = *whole;
    uint64_t taken = 0, bytes = whole->config.buffer_bytes / n;
    for (uint32_t port = slice; port < n_ports; port += n)
        for (uint32_t cls = 0; cls < whole->n_classes; cls++)
            taken += whole->config.reserve_bytes +
                     whole->ingress[port * whole->n_classes + cls].headroom_limit;
    mmu.config.buffer_bytes = bytes;
    mmu.shared_bytes = taken < bytes ? bytes - taken : 0;
    return mmu;
}

void mmu_set_limit(struct mmu *mmu, uint32_t cls, struct mmu_queue limit)
{
    uint8_t bit = (uint8_t)(1u << cls);
    bool limited = limit.packets > 0 || limit.bytes > 0;
    mmu->limit[cls] = limit;
    mmu->limited = (uint8_t)(limited ? mmu->limited | bit : mmu->limited & ~bit);
}

static uint64_t shared_of(const struct mmu *mmu, const struct mmu_ingress *in)
{
    return in->bytes > mmu->config.reserve_bytes ? in->bytes - mmu->config.reserve_bytes : 0;
}

uint64_t mmu_ingress_shared(const struct mmu *mmu, uint32_t port, uint32_t cls)
{
    return shared_of(mmu, ingress_of(mmu, port, cls));
}

static uint64_t threshold(const struct mmu *mmu, double alpha)
{
    return (uint64_t)(int64_t)(alpha * (double)(int64_t)(mmu->shared_bytes - mmu->shared_used));
}

static void charge(struct mmu *mmu, struct mmu_ingress *in, uint32_t bytes)
{
    uint64_t before = shared_of(mmu, in);
    in->bytes += bytes;
    mmu->shared_used += shared_of(mmu, in) - before;
    if (in->bytes > in->max_bytes)
        in->max_bytes = in->bytes;
    if (mmu->shared_used > mmu->max_shared_used)
        mmu->max_shared_used = mmu->shared_used;
}

// Returns true if `bytes` more fit into the ingress's reserve, or into `limit` bytes of shared
// buffer.
static bool fits(const struct mmu *mmu, const struct mmu_ingress *in, uint32_t bytes,
                 uint64_t limit)
{
    uint64_t total = (uint64_t)in->bytes + bytes;
    if (total <= mmu->config.reserve_bytes)
        return true;
    // The threshold bounds the shared bytes that the ingress holds, and the additional bytes must
    // also fit into the free part of the shared buffer.
    uint64_t more = total - mmu->config.reserve_bytes - shared_of(mmu, in);
    return total - mmu->config.reserve_bytes <= limit &&
           more <= mmu->shared_bytes - mmu->shared_used;
}

static bool over_limit(struct mmu_queue limit, uint32_t bytes, struct mmu_queue egress)
{
    return (limit.packets > 0 && egress.packets + 1 > limit.packets) ||
           (limit.bytes > 0 && egress.bytes + bytes > limit.bytes);
}

// A fixed limit also holds for packets that the reserve would admit, so that it is exact.
__attribute__((noinline)) static enum mmu_verdict admit_lossy(struct mmu *mmu, uint32_t cls,
                                                              struct mmu_ingress *in,
                                                              uint32_t bytes,
                                                              struct mmu_queue egress)
{
    if (over_limit(mmu->limit[cls], bytes, egress))
        return MMU_DROP_LIMIT;
    bool reserved = in->bytes + bytes <= mmu->config.reserve_bytes;
    bool over =
        !(mmu->limited >> cls & 1) && egress.bytes + bytes > threshold(mmu, mmu->alpha[cls]);
    if (!reserved && (over || !fits(mmu, in, bytes, UINT64_MAX)))
        return MMU_DROP;
    charge(mmu, in, bytes);
    return MMU_ADMIT;
}

bool mmu_admit_lossy_fast(struct mmu *mmu, uint32_t port, uint32_t cls, uint32_t bytes,
                          struct mmu_queue egress)
{
    struct mmu_ingress *in = ingress_of(mmu, port, cls);
    uint64_t total = (uint64_t)in->bytes + bytes, before = shared_of(mmu, in);
    uint64_t after = total > mmu->config.reserve_bytes ? total - mmu->config.reserve_bytes : 0;
    uint64_t used = mmu->shared_used + (after - before);
    bool limited = mmu->limited >> cls & 1;
    // A new maximum must be exact, but departures that are still to be computed may lower the
    // occupancy, so mmu_admit() decides after a catch-up.
    if (in->headroom_limit > 0 || total > in->max_bytes || used > mmu->max_shared_used ||
        (limited && over_limit(mmu->limit[cls], bytes, egress)))
        return false;
    if (after > 0 && ((!limited && egress.bytes + bytes > threshold(mmu, mmu->alpha[cls])) ||
                      used > mmu->shared_bytes))
        return false;
    in->bytes = (uint32_t)total;
    mmu->shared_used = used;
    return true;
}

enum mmu_verdict mmu_admit(struct mmu *mmu, uint32_t port, uint32_t cls, uint32_t bytes,
                           struct mmu_queue egress)
{
    struct mmu_ingress *in = ingress_of(mmu, port, cls);
    if (in->headroom_limit == 0)
        return admit_lossy(mmu, cls, in, bytes, egress);
    // While headroom is in use all packets go to headroom, so the order of releases does not
    // matter.
    if (in->headroom_bytes == 0 && fits(mmu, in, bytes, threshold(mmu, mmu->alpha[cls]))) {
        charge(mmu, in, bytes);
        return MMU_ADMIT;
    }
    // The packet is above the threshold, so it goes to headroom, and is dropped only if the
    // headroom is full.
    bool admit = in->headroom_bytes + bytes <= in->headroom_limit;
    if (admit)
        in->headroom_bytes += bytes;
    if (in->headroom_bytes > in->max_headroom_bytes)
        in->max_headroom_bytes = in->headroom_bytes;
    // An ingress that holds no bytes has nothing to release, so nothing would ever send its XON.
    if (in->xoff || in->bytes + in->headroom_bytes == 0)
        return admit ? MMU_ADMIT : MMU_DROP;
    in->xoff = true;
    mmu->n_xoff++;
    return admit ? MMU_ADMIT_XOFF : MMU_DROP_XOFF;
}

bool mmu_release(struct mmu *mmu, uint32_t port, uint32_t cls, uint32_t bytes)
{
    struct mmu_ingress *in = ingress_of(mmu, port, cls);
    // Headroom is released first, because it must be empty before an XON.
    uint32_t from_headroom = bytes < in->headroom_bytes ? bytes : in->headroom_bytes;
    uint64_t before = shared_of(mmu, in);
    in->headroom_bytes -= from_headroom;
    in->bytes -= bytes - from_headroom;
    mmu->shared_used -= before - shared_of(mmu, in);
    if (!in->xoff || in->headroom_bytes > 0)
        return false;
    uint64_t shared = shared_of(mmu, in);
    // XON is due once the ingress is xon_offset_bytes below the present threshold, or holds no
    // shared buffer.
    if (shared > 0 && shared + mmu->config.xon_offset_bytes > threshold(mmu, mmu->alpha[cls]))
        return false;
    in->xoff = false;
    mmu->n_xoff--;
    return true;
}

bool mmu_readmit(struct mmu *mmu, uint32_t port, uint32_t cls, uint32_t bytes)
{
    struct mmu_ingress *in = ingress_of(mmu, port, cls);
    bool room = fits(mmu, in, bytes, UINT64_MAX);
    if (room)
        charge(mmu, in, bytes);
    return room;
}

void mmu_take_reserved(struct mmu *mmu, uint32_t port, uint32_t cls, uint32_t bytes)
{
    struct mmu_ingress *in = ingress_of(mmu, port, cls);
    in->headroom_bytes += bytes;
    if (in->headroom_bytes > in->max_headroom_bytes)
        in->max_headroom_bytes = in->headroom_bytes;
}

void mmu_give_reserved(struct mmu *mmu, uint32_t port, uint32_t cls, uint32_t bytes)
{
    ingress_of(mmu, port, cls)->headroom_bytes -= bytes;
}

struct mmu_level mmu_ingress_level(const struct mmu *mmu, uint32_t port, uint32_t cls)
{
    const struct mmu_ingress *in = ingress_of(mmu, port, cls);
    return (struct mmu_level){.bytes = (uint64_t)in->bytes + in->headroom_bytes,
                              .limit_bytes =
                                  mmu->config.reserve_bytes + threshold(mmu, mmu->alpha[cls])};
}

struct mmu_level mmu_drop_level(const struct mmu *mmu, uint32_t port, uint32_t cls,
                                struct mmu_queue egress)
{
    const struct mmu_ingress *in = ingress_of(mmu, port, cls);
    if (in->headroom_limit > 0)
        return (struct mmu_level){in->headroom_bytes, in->headroom_limit};
    if (mmu->limited >> cls & 1)
        return (struct mmu_level){egress.bytes, mmu->limit[cls].bytes};
    return (struct mmu_level){egress.bytes, threshold(mmu, mmu->alpha[cls])};
}

uint64_t mmu_headroom_bytes(const struct headroom_link *l)
{
    // Bytes that the sender's direction carries in a time, rounded up.
    uint64_t flight = bytes_in_ps(l->delay_ps, l->rate_bps) + 1;
    uint64_t back_flight = bytes_in_ps(l->back_delay_ps, l->rate_bps) + 1;
    uint64_t response = l->response_ps > 0 ? bytes_in_ps(l->response_ps, l->rate_bps) + 1 : 0;
    // Frames up to the pause frame on the way back, as bytes that arrive while these are sent.
    uint64_t back = l->max_frame_back + (uint64_t)l->pfc_wire_bytes * (l->pfc_ahead + 1);
    if (l->back_rate_bps != l->rate_bps)
        back = bytes_in_ps(serialization_ps(back, l->back_rate_bps), l->rate_bps) + 1;
    return flight + back_flight + 2 * (uint64_t)l->max_frame_in + back + response;
}
