// SPDX-License-Identifier: MIT
// A flow under a policy without a network: hooks are called by hand, timers by the clock of the test.
#pragma once

#include "cc/registry.h"

#define CC_END                                                                                     \
    {                                                                                              \
        NULL, NULL                                                                                 \
    }

struct cc_flow {
    struct cc *cc;
    struct cc_env env;
    void *params;
    unsigned fired; // timer events so far
};

// A flow of a policy's `preset` (NULL = the first) with some parameters changed (NULL, or ended by
// CC_END). `env` is copied.
struct cc_flow *cc_flow_new(const char *policy, const char *preset, const struct cc_env *env,
                            const struct cc_preset_value *changes);
void cc_flow_free(struct cc_flow *flow);

// Let every timer due up to `until` go off, the earlier first, timer 0 before timer 1.
void cc_flow_run(struct cc_flow *flow, ps_t until);

// Timers up to the ACK's time, then the ACK; checks that rate and window stay legal.
void cc_flow_ack(struct cc_flow *flow, const struct cc_ack *ack);

// The observed value called `name`; the test fails when there is none.
double cc_flow_seen(const struct cc_flow *flow, const char *name);
