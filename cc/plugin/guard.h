// SPDX-License-Identifier: MIT
// A guard stands between this program and a policy of a plugin. It calls the policy's hooks and
// then checks what they have written: rate, window, timers, values of series, bytes beyond the
// private state. A violation is reported once to the flow's watch (cc/cc.h), which ends the run;
// from then on the policy is not called, and its flows have line rate and no window.
#pragma once

#include "cc/cc.h"
#include "collwire/loader.h"

struct guarded {
    struct cc_ops ops; // entry in the catalogue; the first member
    const struct cc_ops *policy;
    struct cc_extras extras; // of `ops`
    struct cc_host host;
    const char *file;                   // of the plugin
    struct collwire_activity *activity; // NULL = not noted
};

// Set up a guard for a policy that cc_ops_check() has accepted. All texts and tables are borrowed.
void guard_init(struct guarded *g, const struct cc_ops *policy, const char *file,
                struct collwire_activity *activity);
