// SPDX-License-Identifier: MIT
// The policies without feedback, and what all policies share: registry, presets, BDP.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cc/registry.h"

// 100 Gb/s * 8 us = 100,000 B.
static const struct cc_env env = {
    .line_bps = UINT64_C(100000000000), .base_rtt_ps = 8000000, .mtu_bytes = 1000, .hops = 2};

static void test_none(void **state)
{
    (void)state;
    const struct cc_ops *none = cc_find("none");
    struct cc *cc = aligned_alloc(alignof(struct cc), cc_bytes(none));
    cc_begin(cc, none, NULL, &env, 5);
    assert_true(cc->rate_bps == env.line_bps);
    assert_true(cc->cwnd_bytes == CC_UNLIMITED);
    for (unsigned i = 0; i < CC_TIMERS; i++)
        assert_true(cc->timer_at_ps[i] == PS_NEVER);
    assert_ptr_equal(cc->ops, none);
    free(cc);
    assert_int_equal(none->needs, 0);
    assert_false(none->presets[0].profile.ecn);
}

static uint64_t window_of(const char *k, const struct cc_env *of)
{
    const struct cc_ops *window = cc_find("window");
    void *params = calloc(1, window->params_bytes);
    struct err err = {0};
    assert_int_equal(cc_params_init(window, NULL, params), 0);
    if (k != NULL) {
        struct param param = param_find(window->params, window->n_params, "k");
        param_set(&param, params, k, "k", &err);
    }
    assert_int_equal(err.n_errors, 0);
    struct cc *cc = aligned_alloc(alignof(struct cc), cc_bytes(window));
    cc_begin(cc, window, params, of, 0);
    assert_true(cc->rate_bps == of->line_bps);
    free(params);
    uint64_t cwnd_bytes = cc->cwnd_bytes;
    free(cc);
    return cwnd_bytes;
}

static void test_window(void **state)
{
    (void)state;
    assert_int_equal(window_of(NULL, &env), 110000); // not 110001: 1.1 means 11/10
    assert_int_equal(window_of("1", &env), 100000);
    assert_int_equal(window_of("0.5", &env), 50000);
    struct cc_env odd = env;
    odd.base_rtt_ps = 8000001; // BDP 100000.0125 B
    assert_int_equal(window_of("1", &odd), 100001);
    assert_int_equal(window_of("1.1", &odd), 110002); // 110001.1
    assert_false(cc_find("window")->presets[0].profile.ecn);
}

static void test_bdp(void **state)
{
    (void)state;
    assert_int_equal(cc_bdp_bytes(&env), 100000);
    // 2.4 Tb/s over 10 s: the product passes 64 bits by far.
    struct cc_env wide = {.line_bps = UINT64_C(2400000000000), .base_rtt_ps = 10 * PS_PER_S};
    assert_int_equal(cc_bdp_bytes(&wide), UINT64_C(3000000000000));
}

static void test_registry(void **state)
{
    (void)state;
    assert_null(cc_find("dcqcm"));
    size_t n = 0;
    for (const struct cc_ops *const *at = cc_registry; *at != NULL; at++, n++) {
        const struct cc_ops *ops = *at;
        assert_ptr_equal(cc_find(ops->name), ops);
        assert_non_null(ops->init);
        assert_true(ops->n_presets > 0);
        assert_true(strlen(ops->doc) > 0 && strlen(ops->paper) > 0);
        void *params = calloc(1, ops->params_bytes + 1);
        for (size_t i = 0; i < ops->n_presets; i++) {
            const struct cc_profile *profile = &ops->presets[i].profile;
            assert_int_equal(cc_params_init(ops, ops->presets[i].name, params), 0);
            assert_ptr_equal(cc_preset_find(ops, ops->presets[i].name), &ops->presets[i]);
            assert_true(profile->kmin_bytes <= profile->kmax_bytes && profile->pmax <= 1);
            assert_true(!profile->ecn || profile->ref_bps > 0 || profile->kmax_bdp > 0);
        }
        assert_ptr_equal(cc_preset_find(ops, NULL), &ops->presets[0]);
        assert_null(cc_preset_find(ops, "nope"));
        assert_int_equal(cc_params_init(ops, "nope", params), -1);
        struct param_walk walk = params_walk(ops->params, ops->n_params);
        for (const struct param *param; (param = params_next(&walk)) != NULL;) {
            struct err err = {0};
            if (param->def != NULL) // defaults are inside their own range
                assert_int_equal(param_set(param, params, param->def, param->name, &err), 0);
            err_free(&err);
        }
        free(params);
    }
    assert_true(n >= 3);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_bdp),
        cmocka_unit_test(test_registry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
