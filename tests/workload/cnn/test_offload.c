// SPDX-License-Identifier: MIT
// Training out of core: schedules of small chains by hand; on random chains the memory and the
// order of every schedule, derived here from what each pass needs, also where operations take other
// times than planned; and plans against other methods and against all choices.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/rng.h"
#include "tests/workload/offload/walk.h"
#include "workload/cnn/offload_plan.h"

#define BYTE_PS 1000 // on a link of 8 Gbit/s
#define RATE 8000000000u

/* ---- by hand ---- */

// Two layers of 100 bytes; forward 1,000 ps, backward 2,000 ps; a byte takes 1,000 ps to move, so
// an output 100,000.
static const struct offload_layer two[] = {{100, 100, 0, 1000, 2000, 0},
                                           {100, 100, 0, 1000, 2000, 0}};

static struct offload_chain chain_of(const struct offload_layer *layers, uint32_t n,
                                     uint64_t capacity)
{
    return (struct offload_chain){.layers = layers,
                                  .n = n,
                                  .capacity_bytes = capacity,
                                  .host_bytes = UINT64_MAX,
                                  .link_bps = RATE};
}

static ps_t iteration(const struct offload_chain *c, const uint8_t *ways)
{
    uint8_t copied[LAYERS_MAX];
    struct offload_schedule s = {0};
    memcpy(copied, ways, c->n);
    struct offload_choice choice = {copied, c->n};
    bool fits = offload_schedule_make(&s, c, &choice);
    ps_t ps = fits ? s.iteration_ps : PS_NEVER;
    offload_schedule_free(&s);
    return ps;
}

// The backward pass of the second layer holds both outputs and both their gradients: 400 bytes.
static void test_two_layers(void **state)
{
    (void)state;
    struct offload_chain c = chain_of(two, 2, 400);
    assert_int_equal(iteration(&c, (const uint8_t[]){OFFLOAD_KEEP, OFFLOAD_KEEP}), 6000);
    // computed again between the passes
    assert_int_equal(iteration(&c, (const uint8_t[]){OFFLOAD_RECOMPUTE, OFFLOAD_KEEP}), 7000);
    // leaves at 1,000, is away at 101,000 and back at 201,000; then both passes backward
    assert_int_equal(iteration(&c, (const uint8_t[]){OFFLOAD_SWAP, OFFLOAD_KEEP}), 205000);
    for (c.capacity_bytes = 0; c.capacity_bytes < 400; c.capacity_bytes++)
        for (uint8_t way = 0; way < OFFLOAD_WAYS; way++)
            assert_true(iteration(&c, (const uint8_t[]){way, OFFLOAD_KEEP}) == PS_NEVER);
    c.capacity_bytes = 400; // the input, which stays, has no room
    c.input_bytes = 1;
    assert_true(iteration(&c, (const uint8_t[]){OFFLOAD_SWAP, OFFLOAD_KEEP}) == PS_NEVER);
}

// Four layers: the last backward pass needs 400 bytes, and so do the two before, since one output
// is freed and one gradient with it. The outputs of the first two layers have left, and their
// return has to wait for room.
static void test_room(void **state)
{
    (void)state;
    struct offload_layer four[4];
    static const uint8_t ways[] = {OFFLOAD_SWAP, OFFLOAD_SWAP, OFFLOAD_KEEP, OFFLOAD_KEEP};
    for (unsigned l = 0; l < 4; l++)
        four[l] = (struct offload_layer){100, 100, 0, 1000, 2000, 0};
    struct offload_chain c = chain_of(four, 4, 400);
    // Outputs leave from 1,000 to 101,000 and to 201,000. The third layer has room for its output
    // at 3,000, as there are 300 bytes, and the fourth at 4,000 (400). Backward 4 needs two more
    // gradients: both outputs must have left, at 201,000; it ends at 203,000 and frees 200. Output
    // 2 returns then, to 303,000; backward 3, which needs it, has room for its gradient and ends at
    // 305,000. Output 1 returns to 405,000; backward 2 and 1 take 4,000 more.
    assert_int_equal(iteration(&c, ways), 409000);
    // With 100 more, output 2 comes back as soon as it has left, to 301,000, beside backward 4,
    // which ends at 203,000, since output 1 left at 101,000 and output 2 at 201,000; output 1
    // follows, to 401,000, into what backward 4 has freed.
    c.capacity_bytes = 500;
    assert_int_equal(iteration(&c, ways), 405000);
    // One block of three: forward, once more, backward; in it the memory of all its outputs.
    static const uint8_t block[] = {OFFLOAD_RECOMPUTE, OFFLOAD_RECOMPUTE, OFFLOAD_RECOMPUTE,
                                    OFFLOAD_KEEP};
    c.capacity_bytes = 600;
    assert_int_equal(iteration(&c, block), 4000 + 3000 + 8000);
    c.capacity_bytes = 599;
    assert_true(iteration(&c, block) == PS_NEVER);
}

// Weights of 10 bytes move in 10,000 ps, twice in and the gradient out once; the host takes 5,000.
static void test_weights(void **state)
{
    (void)state;
    const struct offload_layer one[] = {{100, 100, 10, 1000, 2000, 5000}};
    static const uint8_t ways[] = {OFFLOAD_KEEP};
    struct offload_chain c = chain_of(one, 1, 1000);
    c.swaps_weights = true;
    // in at 10,000, forward to 11,000, in again at 20,000 (there is room), backward to 22,000, out
    // to 32,000, and the update
    assert_int_equal(iteration(&c, ways), 37000);
    struct offload_schedule s = {0};
    struct offload_choice stay = {(uint8_t[]){OFFLOAD_KEEP}, 0}; // between the passes, too
    assert_true(offload_schedule_make(&s, &c, &stay));
    assert_int_equal(s.iteration_ps, 10000 + 3000 + 10000 + 5000);
    offload_schedule_free(&s);
    // Where they have no room twice, they return when the forward pass has freed them. The least is
    // that of the backward pass: output and gradient, weights and gradient.
    uint32_t layer;
    assert_int_equal(offload_least_bytes(&c, &layer), 220);
    c.capacity_bytes = 220;
    assert_int_equal(iteration(&c, ways), 37000);
    c.capacity_bytes = 219;
    assert_true(iteration(&c, ways) == PS_NEVER);
}

/* ---- random chains ---- */

static uint64_t draw(struct rng *rng, uint64_t least, uint64_t most)
{
    return least + (uint64_t)(rng_unit(rng) * (double)(most - least + 1));
}

// A chain with between its least memory and a little more than keeps all.
static struct offload_chain draw_chain(struct rng *rng, struct offload_layer *layers, uint32_t n)
{
    uint64_t all = 0;
    uint32_t layer;
    for (uint32_t l = 0; l < n; l++) {
        uint64_t ps = draw(rng, 1, 200000);
        layers[l] = (struct offload_layer){.output_bytes = draw(rng, 1, 200),

                                           .gradient_bytes = draw(rng, 1, 200),
                                           .weight_bytes = draw(rng, 0, 3) * draw(rng, 0, 30),
                                           .forward_ps = (ps_t)ps,
                                           .backward_ps = (ps_t)(2 * ps),
                                           .update_ps = (ps_t)draw(rng, 0, 20000)};
        all += layers[l].output_bytes;
    }
    struct offload_chain c = chain_of(layers, n, 0);
    c.input_bytes = draw(rng, 0, 100);
    c.swaps_weights = rng_unit(rng) < 0.4;
    uint64_t least = offload_least_bytes(&c, &layer);
    c.capacity_bytes = draw(rng, least, least + all);
    return c;
}

#define CHAINS 300

// Any choice, planned or not, keeps to the capacity if it fits.
static void test_any_choice(void **state)
{
    (void)state;
    struct rng rng = rng_init(11, RNG_WORKLOAD, 0);
    struct offload_layer layers[LAYERS_MAX];
    uint8_t ways[LAYERS_MAX];
    unsigned fitting = 0;
    for (unsigned i = 0; i < 10 * CHAINS; i++) {
        uint32_t n = (uint32_t)draw(&rng, 1, LAYERS_MAX);
        struct offload_chain c = draw_chain(&rng, layers, n);
        struct offload_schedule s = {0};
        for (uint32_t l = 0; l < n; l++)
            ways[l] = (uint8_t)(l + 1 < n ? draw(&rng, 0, 2) : OFFLOAD_KEEP);
        struct offload_choice choice = {ways, (uint32_t)draw(&rng, 0, n)};
        if (offload_schedule_make(&s, &c, &choice)) {
            check_schedule(&c, &choice, &s, &rng);
            fitting++;
        }
        offload_schedule_free(&s);
    }
    assert_in_range(fitting, CHAINS, 10 * CHAINS - CHAINS);
}

// The time of blocks of the square root of n layers, whose ends are kept (Chen et al., 2016).
static ps_t square_root_ps(const struct offload_chain *c)
{
    uint8_t ways[LAYERS_MAX];
    uint32_t root = (uint32_t)ceil(sqrt(c->n));
    for (uint32_t l = 0; l < c->n; l++)
        ways[l] = (l + 1) % root == 0 || l + 1 == c->n ? OFFLOAD_KEEP : OFFLOAD_RECOMPUTE;
    return iteration(c, ways);
}

static void test_methods(void **state)
{
    (void)state;
    struct rng rng = rng_init(12, RNG_WORKLOAD, 0);
    struct offload_layer layers[LAYERS_MAX];
    unsigned better = 0;
    for (unsigned i = 0; i < CHAINS; i++) {
        struct offload_chain c = draw_chain(&rng, layers, (uint32_t)draw(&rng, 1, LAYERS_MAX));
        uint32_t layer;
        uint64_t least = offload_least_bytes(&c, &layer);
        c.link_bps /= draw(&rng, 1, 8); // and, in half of the chains, little more than the least
        if (rng_unit(&rng) < 0.5)
            c.capacity_bytes = least + (c.capacity_bytes - least) / 4;
        struct offload_plan plans[3];
        struct offload_schedule s = {0};
        uint8_t keep[LAYERS_MAX] = {0};
        for (int method = 0; method < 3; method++) {
            bool fits = offload_plan_make(&plans[method], &c, (enum offload_method)method);
            assert_true(fits || method == OFFLOAD_ONLY_RECOMPUTE);
            assert_true(fits == (plans[method].iteration_ps != PS_NEVER));
            if (!fits)
                continue;
            assert_true(offload_schedule_make(&s, &c, &plans[method].choice));
            assert_int_equal(s.iteration_ps, plans[method].iteration_ps);
            check_schedule(&c, &plans[method].choice, &s, &rng);
            assert_int_equal(plans[method].kept + plans[method].swapped + plans[method].recomputed,
                             c.n);
        }
        assert_int_equal(plans[OFFLOAD_ONLY_SWAP].recomputed, 0);
        assert_int_equal(plans[OFFLOAD_ONLY_RECOMPUTE].swapped, 0);
        ps_t best = plans[OFFLOAD_AUTO].iteration_ps, swap = plans[OFFLOAD_ONLY_SWAP].iteration_ps,
             again = plans[OFFLOAD_ONLY_RECOMPUTE].iteration_ps;
        assert_true(best <= swap && best <= again);
        assert_true(again <= square_root_ps(&c));
        assert_true(best <= iteration(&c, keep));
        better += best < swap && best < again;
        offload_schedule_free(&s);
        for (int method = 0; method < 3; method++)
            offload_plan_free(&plans[method]);
    }
    print_message("both together are shorter in %u of %u chains\n", better, CHAINS);
    assert_true(better > CHAINS / 3);
}

// A byte less than the least, and nothing fits; with the least, swapping does.
static void test_least(void **state)
{
    (void)state;
    struct rng rng = rng_init(13, RNG_WORKLOAD, 0);
    struct offload_layer layers[LAYERS_MAX];
    for (unsigned i = 0; i < CHAINS; i++) {
        struct offload_chain c = draw_chain(&rng, layers, (uint32_t)draw(&rng, 1, LAYERS_MAX));
        struct offload_plan plan;
        uint32_t layer;
        for (unsigned more = 0; more < 2; more++) {
            c.capacity_bytes = offload_least_bytes(&c, &layer) - 1 + more;
            assert_true(offload_plan_make(&plan, &c, OFFLOAD_AUTO) == (more == 1));
            offload_plan_free(&plan);
            assert_true(offload_plan_make(&plan, &c, OFFLOAD_ONLY_SWAP) == (more == 1));
            offload_plan_free(&plan);
        }
    }
}

// The host holds no more than it has.
static void test_host(void **state)
{
    (void)state;
    struct rng rng = rng_init(14, RNG_WORKLOAD, 0);
    struct offload_layer layers[LAYERS_MAX];
    unsigned fitting = 0;
    for (unsigned i = 0; i < CHAINS; i++) {
        struct offload_chain c = draw_chain(&rng, layers, (uint32_t)draw(&rng, 2, LAYERS_MAX));
        struct offload_plan plan;
        uint64_t swapped = 0;
        c.host_bytes = draw(&rng, 0, 500);
        if (offload_plan_make(&plan, &c, OFFLOAD_AUTO)) {
            for (uint32_t l = 0; l < c.n; l++)
                swapped += plan.choice.ways[l] == OFFLOAD_SWAP ? layers[l].output_bytes : 0;
            fitting++;
        }
        assert_true(swapped <= c.host_bytes);
        offload_plan_free(&plan);
    }
    assert_in_range(fitting, CHAINS / 2, CHAINS - 1);
}

// The shortest iteration of all choices.
static ps_t least_of_all(const struct offload_chain *c)
{
    ps_t least = PS_NEVER;
    uint32_t choices = 1;
    uint8_t ways[LAYERS_MAX] = {0};
    struct offload_schedule s = {0};
    for (uint32_t l = 1; l < c->n; l++)
        choices *= OFFLOAD_WAYS;
    for (uint32_t k = 0; k < choices; k++)
        for (uint32_t stay = c->swaps_weights ? 0 : c->n; stay <= c->n; stay++) {
            struct offload_choice choice = {ways, stay};
            for (uint32_t l = 0, rest = k; l + 1 < c->n; l++, rest /= OFFLOAD_WAYS)
                ways[l] = (uint8_t)(rest % OFFLOAD_WAYS);
            if (offload_schedule_make(&s, c, &choice) && s.iteration_ps < least)
                least = s.iteration_ps;
        }
    offload_schedule_free(&s);
    return least;
}

// All choices of small chains: none is shorter by more than a hundredth, and in 49 of 50 chains
// none is shorter at all.
static void check_all_choices(uint32_t index, unsigned chains, uint32_t n_least, uint32_t n_most)
{
    struct rng rng = rng_init(15, RNG_WORKLOAD, index);
    struct offload_layer layers[LAYERS_MAX];
    unsigned best = 0;
    double worst = 0;
    for (unsigned i = 0; i < chains; i++) {
        struct offload_chain c = draw_chain(&rng, layers, (uint32_t)draw(&rng, n_least, n_most));
        struct offload_plan plan;
        ps_t least = least_of_all(&c);
        assert_true(offload_plan_make(&plan, &c, OFFLOAD_AUTO));
        assert_true(plan.iteration_ps >= least);
        best += plan.iteration_ps == least;
        worst = fmax(worst, (double)plan.iteration_ps / (double)least);
        offload_plan_free(&plan);
    }
    print_message("best of all choices in %u of %u chains, at worst %.4f of it\n", best, chains,
                  worst);
    assert_true(best >= chains * 49 / 50);
    assert_true(worst <= 1.01);
}

static void test_all_choices(void **state)
{
    (void)state;
    check_all_choices(0, CHAINS, 1, 6);
    check_all_choices(1, CHAINS / 6, 7, 8);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_layers), cmocka_unit_test(test_room),
        cmocka_unit_test(test_weights),    cmocka_unit_test(test_any_choice),
        cmocka_unit_test(test_methods),    cmocka_unit_test(test_least),
        cmocka_unit_test(test_host),       cmocka_unit_test(test_all_choices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
