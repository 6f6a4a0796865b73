// SPDX-License-Identifier: MIT
// The random pushes and drops, and the reference arrays.
#include "tests/support/packet_fifos.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <cmocka.h>

#include "engine/base/rng.h"

#define HELD_MAX 600

struct model {
    uint32_t held[HELD_MAX]; // ring buffer
    size_t first, n;
};

struct packet packet_numbered(uint32_t n)
{
    return (struct packet){
        .entropy = n, .flow = ~n, .arrives_ps = (ps_t)n << 20, .flags = (uint8_t)n};
}

void assert_packet(const struct packet *p, uint32_t n)
{
    struct packet want = packet_numbered(n);
    assert_memory_equal(p, &want, sizeof want);
}

static void check_head(const struct packet_fifos *f, size_t i, const struct model *m)
{
    assert_packet(f->head(f->ctx, i), m->held[m->first]);
}

static void drop(const struct packet_fifos *f, size_t i, struct model *m)
{
    check_head(f, i, m);
    f->drop(f->ctx, i);
    m->first = (m->first + 1) % HELD_MAX;
    m->n--;
}

uint64_t packet_fifos_walk(const struct packet_fifos *f)
{
    struct model model[PACKET_FIFOS] = {0};
    struct rng rng = rng_init(4, RNG_WORKLOAD, 0);
    uint32_t next = 0;
    uint64_t most = 0;
    for (uint32_t round = 0; round < 300000; round++) {
        size_t i = rng_below(&rng, PACKET_FIFOS);
        struct model *m = &model[i];
        bool fill = (round / 9000) % 2 == 0;
        if (rng_below(&rng, 10) < (fill ? 7 : 3) && m->n < HELD_MAX) {
            *f->push(f->ctx, i) = packet_numbered(next);
            m->held[(m->first + m->n++) % HELD_MAX] = next++;
        } else if (m->n > 0) {
            drop(f, i, m);
        }
        assert_int_equal(f->count(f->ctx, i), m->n);
        if (m->n > 0)
            check_head(f, i, m);
        uint64_t held = f->held(f->ctx);
        most = held > most ? held : most;
    }
    assert_true(next > 100000);
    for (size_t i = 0; i < PACKET_FIFOS; i++)
        while (model[i].n > 0)
            drop(f, i, &model[i]);
    return most;
}
