// SPDX-License-Identifier: MIT
// The sender's choice of an entropy for each packet. An entropy is a number below `n`, a power of
// two, that becomes part of the packet's UDP source port, so that switches hash packets of one flow
// to different paths. The receiver reports the outcome of a packet with its entropy.
//
// oblivious: all entropies in turn, in the order of i xor x, where x is drawn anew for every round.
// bitmap: the same order without entropies that have a penalty, which marks and losses add and
// every packet takes away from one. reps: entropies whose packets came without a mark are used
// again, once each, the oldest first (a ring of 8); else one at random. After a timeout the ring is
// used again and again for 10 ms ("frozen"), then 16 packets go at random. mixed: as bitmap, but
// entropies whose packets came without a mark are used first. mrc: the order of bitmap; an entropy
// is skipped once after a mark or a trimmed packet, and always after a loss, until a probe on it is
// answered. A quarter of the entropies always stay in use.
//
// Sources: uet-htsim (commit 40ccb05), uec_mp.cpp; Bonato et al., "REPS: Recycled Entropy Packet
// Spraying for Adaptive Load Balancing and Failure Mitigation", 2024; mrc: Araujo et al., 2026
// (arXiv 2605.04333), and docs/mrc.md.
#pragma once

#include <stdbool.h>

#include "engine/base/rng.h"

enum spray_kind {
    SPRAY_KIND_NONE,
    SPRAY_MIXED,
    SPRAY_OBLIVIOUS,
    SPRAY_BITMAP,
    SPRAY_REPS,
    SPRAY_MRC
};
extern const char *const spray_words[]; // in the order of the enum, NULL at the end

// Outcome of a packet: it came without a mark, or with one; it was trimmed; it is lost without a
// report. A timeout has no entropy.
enum spray_report { SPRAY_GOOD, SPRAY_MARKED, SPRAY_LOST, SPRAY_GONE, SPRAY_TIMEOUT };

#define SPRAY_RING 8
#define SPRAY_ENTROPIES_MAX 16384

struct spray {
    uint8_t kind; // enum spray_kind
    uint32_t n;
    struct rng rng;
    /* walk */
    uint32_t at, mask;    // the next entropy is at xor mask
    uint8_t *penalty;     // bitmap and mixed: [entropy]; allocated at first use
    uint32_t n_penalties; // entropies that have one; mrc: number of entropies that are not in use
    uint32_t probed;      // mrc: the entropy after the last one that was probed
    ps_t probe_due_ps;    // mrc: the next probe
    /* entropies to use again */
    uint16_t ring[SPRAY_RING]; // reps
    uint8_t ring_next;         // where the next one is written
    uint8_t ring_used;         // entries written so far, at most SPRAY_RING
    uint8_t ring_fresh;        // entries that have not been used again
    uint8_t frozen_next;
    uint16_t *queue; // mixed: ring of n places; allocated at first use
    uint32_t queue_head, queue_count;
    uint32_t explore;     // reps: packets that go at random
    ps_t frozen_until_ps; // reps: 0 = not frozen
};

// Start the choice of a flow. `n` is a power of two; draws depend on the scenario's seed and on
// `name`, which no other flow of the run has.
void spray_init(struct spray *s, enum spray_kind kind, uint32_t n, uint64_t seed, uint64_t name);
void spray_free(struct spray *s);

// Returns why a number of entropies is not allowed, or NULL.
static inline const char *spray_count_fault(uint64_t n)
{
    return (n & (n - 1)) != 0 ? "must be a power of two" : NULL;
}

// Returns the entropy of the next packet.
uint32_t spray_next(struct spray *s, ps_t now);

// Record the outcome of a packet with this entropy.
void spray_report(struct spray *s, uint32_t entropy, enum spray_report report, ps_t now);

// mrc: returns an entropy on which a probe is due, the next at the earliest after `every_ps`;
// UINT32_MAX if none is.
uint32_t spray_probe(struct spray *s, ps_t every_ps, ps_t now);
