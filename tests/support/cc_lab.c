// SPDX-License-Identifier: MIT
// Flows for the tests of congestion control policies.
#include "tests/support/cc_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct cc_flow *cc_flow_new(const char *policy, const char *preset, const struct cc_env *env,
                            const struct cc_preset_value *changes)
{
    const struct cc_ops *ops = cc_find(policy);
    struct cc_flow *flow = calloc(1, sizeof *flow);
    struct err err = {0};
    assert_non_null(ops);
    flow->params = calloc(1, ops->params_bytes + 1);
    flow->env = *env;
    assert_int_equal(cc_params_init(ops, preset, flow->params), 0);
    for (; changes != NULL && changes->param != NULL; changes++) {
        struct param param = param_find(ops->params, ops->n_params, changes->param);
        assert_non_null(param.name);
        param_set(&param, flow->params, changes->value, changes->param, &err);
    }
    assert_int_equal(err.n_errors, 0);
    flow->cc = aligned_alloc(alignof(struct cc), cc_bytes(ops));
    cc_begin(flow->cc, ops, flow->params, &flow->env, 0);
    return flow;
}

void cc_flow_free(struct cc_flow *flow)
{
    free(flow->cc);
    free(flow->params);
    free(flow);
}

static void check_outputs(const struct cc_flow *flow)
{
    assert_true(flow->cc->rate_bps > 0 && flow->cc->rate_bps <= flow->env.line_bps);
    assert_true(flow->cc->cwnd_bytes > 0);
}

void cc_flow_run(struct cc_flow *flow, ps_t until)
{
    for (;;) {
        ps_t *at = flow->cc->timer_at_ps;
        unsigned timer = at[1] < at[0];
        if (at[timer] > until || at[timer] == PS_NEVER)
            return;
        flow->fired++;
        flow->cc->ops->on_timer(flow->cc, timer, at[timer]);
        check_outputs(flow);
    }
}

void cc_flow_ack(struct cc_flow *flow, const struct cc_ack *ack)
{
    cc_flow_run(flow, ack->now_ps);
    flow->cc->ops->on_ack(flow->cc, ack);
    check_outputs(flow);
}

double cc_flow_seen(const struct cc_flow *flow, const char *name)
{
    double out[16];
    const struct cc_ops *ops = flow->cc->ops;
    size_t n = ops->observe(flow->cc, out, sizeof out / sizeof *out);
    for (size_t i = 0; i < n && ops->observed[i] != NULL; i++)
        if (strcmp(ops->observed[i], name) == 0)
            return out[i];
    fail_msg("%s observes no %s", ops->name, name);
    return 0;
}
