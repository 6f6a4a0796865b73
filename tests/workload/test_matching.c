// SPDX-License-Identifier: MIT
// Sends and receives in random orders: send k and receive k of each pair of ranks and tag are
// matched, whatever the order of send, arrival and receive, and finished pairs use no memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/rng.h"
#include "workload/matching.h"

#define RANKS 4
#define TAGS 3
#define ON_WAY 40

struct counts { // of a channel
    uint32_t sent, received;
    uint8_t arrived[4096], over[4096]; // of send and receive number k
};

struct on_way {
    uint32_t message, src, dst, tag, number;
    bool delivered;
};

static struct counts counts[RANKS][RANKS][TAGS];
static struct on_way on_way[ON_WAY];
static uint32_t n_on_way, n_over;

// Steps contain the number within their channel, so a wrong pairing shows.
static void end_pair(uint32_t src, uint32_t dst, uint32_t tag, uint32_t number)
{
    struct counts *c = &counts[src][dst][tag];
    assert_int_equal(c->over[number], 0);
    assert_int_equal(c->arrived[number], 1);
    assert_true(number < c->received);
    c->over[number] = 1;
    n_over++;
}

static void send(struct matching *m, uint32_t src, uint32_t dst, uint32_t tag)
{
    uint32_t number = counts[src][dst][tag].sent++;
    uint32_t message =
        matching_send(m, (struct matching_key){src, dst, tag, MATCHING_NEXT}, number + 1000, 0);
    for (uint32_t i = 0; i < n_on_way; i++)
        assert_int_not_equal(on_way[i].message, message);
    on_way[n_on_way++] = (struct on_way){message, src, dst, tag, number, false};
}

static void receive(struct matching *m, uint32_t src, uint32_t dst, uint32_t tag)
{
    struct counts *c = &counts[src][dst][tag];
    uint32_t number = c->received++;
    bool over = matching_receive(m, (struct matching_key){src, dst, tag, MATCHING_NEXT}, number);
    assert_int_equal(over, c->arrived[number]);
    if (over)
        end_pair(src, dst, tag, number);
}

// Deliver a message, or end it if it has been delivered.
static void move(struct matching *m, uint32_t at)
{
    struct on_way *w = &on_way[at];
    struct counts *c = &counts[w->src][w->dst][w->tag];
    uint32_t rank = RANKS, step = 0;
    if (w->delivered) {
        matching_sent(m, w->message, &rank, &step);
        assert_int_equal(rank, w->src);
        assert_int_equal(step, w->number + 1000);
        *w = on_way[--n_on_way];
        return;
    }
    w->delivered = true;
    c->arrived[w->number] = 1;
    bool over = matching_delivered(m, w->message, &rank, &step);
    assert_int_equal(over, w->number < c->received);
    if (!over)
        return;
    assert_int_equal(rank, w->dst);
    assert_int_equal(step, w->number);
    end_pair(w->src, w->dst, w->tag, w->number);
}

static void test_random_orders(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct matching m = {0};
        struct rng rng = rng_init(seed, RNG_WORKLOAD, 3);
        uint32_t n_sent = 0;
        memset(counts, 0, sizeof counts);
        n_on_way = n_over = 0;
        for (uint32_t i = 0; i < 20000; i++) {
            uint32_t src = (uint32_t)rng_below(&rng, RANKS), dst = (uint32_t)rng_below(&rng, RANKS);
            uint32_t tag = (uint32_t)rng_below(&rng, TAGS);
            struct counts *c = &counts[src][dst][tag];
            switch (rng_below(&rng, 4)) {
            case 0:
                if (n_on_way < ON_WAY && c->sent < c->received + 50) {
                    send(&m, src, dst, tag);
                    n_sent++;
                }
                break;
            case 1:
                if (c->received < c->sent + 50)
                    receive(&m, src, dst, tag);
                break;
            default:
                if (n_on_way > 0)
                    move(&m, (uint32_t)rng_below(&rng, n_on_way));
            }
        }
        while (n_on_way > 0)
            move(&m, 0);
        for (uint32_t at = 0; at < RANKS * RANKS * TAGS; at++)
            while (counts[at / TAGS / RANKS][at / TAGS % RANKS][at % TAGS].received <
                   counts[at / TAGS / RANKS][at / TAGS % RANKS][at % TAGS].sent)
                receive(&m, at / TAGS / RANKS, at / TAGS % RANKS, at % TAGS);
        assert_int_equal(n_over, n_sent);
        assert_true(n_sent > 3000);
        assert_true(m.n_channels <= RANKS * RANKS * TAGS && m.numbers.n <= ON_WAY);
        matching_free(&m);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_orders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
