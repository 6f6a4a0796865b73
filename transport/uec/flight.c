// SPDX-License-Identifier: MIT
// The ring of send times and the sets of packet numbers.
#include "transport/uec/flight.h"

#include <stdlib.h>

#include "engine/base/memory.h"

#define RING_LEAST 64

void flight_free(struct uec_flight *f)
{
    free(f->sent_ps);
    free(f->entropies);
    psn_set_free(&f->arrived);
    psn_set_free(&f->lost);
    *f = (struct uec_flight){0};
}

void flight_clear(struct uec_flight *f)
{
    psn_set_clear(&f->arrived);
    psn_set_clear(&f->lost);
}

static void grow(struct uec_flight *f, uint64_t una, uint64_t psn)
{
    struct uec_flight old = *f;
    f->n_sent = old.n_sent > 0 ? 2 * old.n_sent : RING_LEAST;
    while (f->n_sent <= psn - una)
        f->n_sent *= 2;
    f->sent_ps = memory_zeroed(f->n_sent, sizeof *f->sent_ps);
    f->entropies = memory_zeroed(f->n_sent, sizeof *f->entropies);
    for (uint64_t i = una; old.n_sent > 0 && i < una + old.n_sent; i++) {
        f->sent_ps[i & (f->n_sent - 1)] = flight_sent_ps(&old, i);
        f->entropies[i & (f->n_sent - 1)] = (uint16_t)flight_entropy(&old, i);
    }
    free(old.sent_ps);
    free(old.entropies);
}

void flight_sent(struct uec_flight *f, uint64_t una, uint64_t psn, uint32_t entropy, ps_t now)
{
    if (psn - una >= f->n_sent)
        grow(f, una, psn);
    f->sent_ps[psn & (f->n_sent - 1)] = now;
    f->entropies[psn & (f->n_sent - 1)] = (uint16_t)entropy;
}

void flight_advance(struct uec_flight *f, uint64_t una, uint64_t cumulative)
{
    for (uint64_t psn = una; psn < cumulative && f->arrived.n + f->lost.n > 0; psn++) {
        psn_set_remove(&f->arrived, psn);
        psn_set_remove(&f->lost, psn);
    }
}

void flight_arrived(struct uec_flight *f, uint64_t una, uint64_t base, uint64_t bits)
{
    for (bits &= ~psn_set_bits(&f->arrived, base); bits != 0; bits &= bits - 1) {
        uint64_t psn = base + (uint64_t)__builtin_ctzll(bits);
        psn_set_add(&f->arrived, una, psn);
        psn_set_remove(&f->lost, psn);
    }
}
