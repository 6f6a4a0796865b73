// SPDX-License-Identifier: MIT
// The trial that policies of plugins go through: the built-in ones pass it, and each way to break
// the contract is found.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cc/plugin/guard.h"
#include "cc/plugin/plugin_trial.h"
#include "cc/registry.h"

static void test_built_in_policies_pass(void **state)
{
    (void)state;
    for (const struct cc_ops *const *ops = cc_registry; *ops; ops++) {
        struct err err = {0};
        struct guarded guard;
        guard_init(&guard, *ops, "builtin", NULL);
        if (trial_run(&guard.ops, "trial", &err) != 0)
            fail_msg("%s: %s", (*ops)->name, err.items[0].text);
        err_free(&err);
    }
}

// ---- one policy with a fault of each kind ----

enum fault {
    RATE_ZERO,
    RATE_ABOVE_LINE,
    RATE_NAN,
    WINDOW_SMALL,
    TIMER_PAST,
    TIMER_NOW,
    TIMER_NEGATIVE,
    TIMER_IN_SEND,
    STATE_OVERRUN,
    OPS_CHANGED,
    OBSERVED_NAN,
    GROWTH_NEGATIVE,
    FAULTS
};

static enum fault fault; // of the policy under test

static void spoil(struct cc *cc, ps_t now, bool sends)
{
    volatile double zero = 0;
    switch (fault) {
    case RATE_ZERO:
        cc->rate_bps = 0;
        break;
    case RATE_ABOVE_LINE:
        cc->rate_bps = cc->env->line_bps + 1;
        break;
    case RATE_NAN: // what x86 makes of a NaN as an integer
        cc->rate_bps = isnan(zero / zero) ? UINT64_C(1) << 63 : 1;
        break;
    case WINDOW_SMALL:
        cc->cwnd_bytes = cc->env->mtu_bytes - 1;
        break;
    case TIMER_PAST:
        cc->timer_at_ps[0] = now - 1;
        break;
    case TIMER_NOW:
        cc->timer_at_ps[1] = now + CC_TIMER_LEAST_PS - 1;
        break;
    case TIMER_NEGATIVE:
        cc->timer_at_ps[0] = -5;
        break;
    case TIMER_IN_SEND:
        if (sends)
            cc->timer_at_ps[0] = now + PS_PER_US;
        break;
    case STATE_OVERRUN:
        cc->priv[cc->ops->priv_bytes - 16] ^=
            1; // ops is the guard's, with 16 bytes behind the state
        break;
    case OPS_CHANGED:
        cc->params = &fault;
        break;
    default:
        break;
    }
}

static void bad_init(struct cc *cc, ps_t now)
{
    (void)now;
    cc->cwnd_bytes = cc_window_bytes(cc->env, 1.5);
}
static void bad_on_ack(struct cc *cc, const struct cc_ack *ack) { spoil(cc, ack->now_ps, false); }
static void bad_on_send(struct cc *cc, uint32_t bytes, ps_t now)
{
    (void)bytes;
    if (fault == TIMER_IN_SEND)
        spoil(cc, now, true);
}
static void bad_on_timer(struct cc *cc, unsigned timer, ps_t now)
{
    (void)cc;
    (void)timer;
    (void)now;
}
static const char *const bad_names[] = {"a", NULL};
static size_t bad_observe(const struct cc *cc, double *out, size_t cap)
{
    (void)cc;
    out[0] = fault == OBSERVED_NAN ? (double)NAN : 1;
    return cap > 0;
}
static struct cc_growth bad_growth(const struct cc *cc)
{
    (void)cc;
    return (struct cc_growth){.every_ps = fault == GROWTH_NEGATIVE ? -1 : 1};
}

static const struct cc_extras bad_extras = {CC_EXTRAS, .growth = bad_growth};
static const struct cc_preset bad_presets[] = {{.name = "only", .doc = "the only one"}};
static const struct cc_ops bad = {.contract = CC_CONTRACT,
                                  .name = "bad",
                                  .doc = "for tests",
                                  .paper = "none",
                                  .priv_bytes = 24,
                                  .presets = bad_presets,
                                  .n_presets = 1,
                                  .init = bad_init,
                                  .on_ack = bad_on_ack,
                                  .on_send = bad_on_send,
                                  .on_timer = bad_on_timer,
                                  .observe = bad_observe,
                                  .observed = bad_names,
                                  .extras = &bad_extras};

static void test_each_fault_is_found(void **state)
{
    (void)state;
    static const char *const says[FAULTS + 1] = {
        [RATE_ZERO] = "on_ack() set a rate of 0",
        [RATE_ABOVE_LINE] = "on_ack() set a rate of 100000000001bps, and the line has 100Gbps",
        [RATE_NAN] = "on_ack() set a rate of ",
        [WINDOW_SMALL] =
            "on_ack() set a window of 4095 B, less than a packet of 4096 B, at the line's rate",
        [TIMER_PAST] = "on_ack() set timer 0 to ",
        [TIMER_NOW] = "on_ack() set timer 1 to ",
        [TIMER_NEGATIVE] = "on_ack() set timer 0 to a time below 0, which is not 1 ns ahead",
        [TIMER_IN_SEND] = "on_send() set timer 0, which on_send() may not",
        [STATE_OVERRUN] = "on_ack() wrote beyond its 24 bytes of private state",
        [OPS_CHANGED] = "on_ack() changed a field of struct cc that is no output",
        [OBSERVED_NAN] = "observe() returned a value that is no finite number",
        [GROWTH_NEGATIVE] = "growth() returned an interval below 0",
        [FAULTS] = NULL,
    };
    for (fault = 0; fault <= FAULTS; fault++) {
        struct err err = {0};
        struct guarded guard;
        guard_init(&guard, &bad, "bad.so", NULL);
        int status = trial_run(&guard.ops, "p", &err);
        if (!says[fault]) { // without a fault it passes
            assert_int_equal(status, 0);
            continue;
        }
        assert_int_equal(status, -1);
        assert_int_equal(err.n_errors, 1);
        if (!strstr(err.items[0].text, says[fault]) || !strstr(err.items[0].text, "plugin bad.so"))
            fail_msg("fault %d: %s", (int)fault, err.items[0].text);
        err_free(&err);
    }
}

// A timer without on_timer() would call a function that is not there.
static void test_timer_without_hook(void **state)
{
    (void)state;
    struct err err = {0};
    struct guarded guard;
    struct cc_ops ops = bad;
    ops.on_timer = NULL;
    fault = TIMER_PAST;
    guard_init(&guard, &ops, "bad.so", NULL);
    assert_int_equal(trial_run(&guard.ops, "p", &err), -1);
    assert_non_null(strstr(err.items[0].text, "set timer 0, and the policy has no on_timer()"));
    err_free(&err);
}

// ---- after a violation ----

static unsigned violations;
static void on_violation(void *ctx, const char *text)
{
    (void)text;
    assert_ptr_equal(ctx, &violations);
    violations++;
}

static void test_a_flow_is_released(void **state)
{
    (void)state;
    struct guarded guard;
    struct cc_watch watch = {&violations, on_violation, false};
    const struct cc_env env = {.line_bps = UINT64_C(100000000000),
                               .base_rtt_ps = 8 * PS_PER_US,
                               .mtu_bytes = 4096,
                               .helpers = &cc_helpers,
                               .watch = &watch};
    struct collwire_activity activity = {0};
    guard_init(&guard, &bad, "bad.so", &activity);
    struct cc *cc = calloc(1, cc_bytes(&guard.ops));
    fault = FAULTS;
    cc_begin(cc, &guard.ops, NULL, &env, 0);
    assert_int_equal(cc->cwnd_bytes, 150000);
    assert_int_equal(activity.calls, 1);
    fault = RATE_ZERO;
    const struct cc_ack ack = {.now_ps = PS_PER_US};
    guard.ops.on_ack(cc, &ack);
    assert_int_equal(violations, 1);
    assert_int_equal(cc->rate_bps, env.line_bps);
    assert_true(cc->cwnd_bytes == CC_UNLIMITED);
    guard.ops.on_ack(cc, &ack); // not called any more
    assert_int_equal(violations, 1);
    assert_int_equal(activity.calls, 2);
    assert_null(activity.file);
    free(cc);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built_in_policies_pass),
        cmocka_unit_test(test_each_fault_is_found),
        cmocka_unit_test(test_timer_without_hook),
        cmocka_unit_test(test_a_flow_is_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
