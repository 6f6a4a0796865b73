// SPDX-License-Identifier: MIT
// A flow under a policy without a network. The test calls the hooks and sets the clock for the
// timers.
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
    unsigned fired; // number of timer events so far
};

// Create a flow with a policy's `preset` (NULL = the first) and changed parameters (NULL, or a list
// that ends with CC_END). `env` is copied.
struct cc_flow *cc_flow_new(const char *policy, const char *preset, const struct cc_env *env,
                            const struct cc_preset_value *changes);
void cc_flow_free(struct cc_flow *flow);

// Fire every timer due until `until` in order of time, timer 0 before timer 1.
void cc_flow_run(struct cc_flow *flow, ps_t until);

// Fire the timers up to the ACK's time, then call on_ack; checks that rate and window stay legal.
void cc_flow_ack(struct cc_flow *flow, const struct cc_ack *ack);

// Returns the observed value called `name`; the test fails if there is none.
double cc_flow_seen(const struct cc_flow *flow, const char *name);
