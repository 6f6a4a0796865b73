// SPDX-License-Identifier: MIT
// The program's side of the contract: it checks policies, sets their parameters and starts their
// flows. The contract itself is collwire/cc.h, which is all that a policy needs.
#pragma once

#include "collwire/cc.h"
#include "collwire/cc_extras.h"
#include "engine/base/param.h"

// Names of the needs (enum cc_needs) in messages and pages, in the order of the bits; an entry with
// `text` NULL ends the list.
struct cc_need_word {
    unsigned bit;
    const char *text;
};
extern const struct cc_need_word cc_need_words[];

// The notification settings of a preset, with every AUTO resolved.
struct cc_notification cc_notification_of(const struct cc_preset *preset);

// Check that `ops` has this version of the contract and sound parameters and presets. Returns 0, or
// -1 with errors. If the version differs, no other field is read.
int cc_ops_check(const struct cc_ops *ops, struct err *err);

// Size of a flow's struct cc including the policy's private state, rounded up to its alignment.
size_t cc_bytes(const struct cc_ops *ops);

// Start a flow: line rate, no window, timers off, then the policy's init. `cc` has cc_bytes(ops)
// bytes; `params` and `env` are borrowed and must outlive the flow.
void cc_begin(struct cc *cc, const struct cc_ops *ops, const void *params, const struct cc_env *env,
              ps_t now);

// Set the defaults of the table, then the values of a preset (NULL = the first). `params` has
// ops->params_bytes bytes. Returns 0, or -1 if the preset is unknown.
int cc_params_init(const struct cc_ops *ops, const char *preset, void *params);

// The name of a class of evidence, "" if it is unstated.
const char *evidence_name(enum evidence evidence);

// Returns the evidence for a field of the preset (`field`: a parameter that it sets, "marking" or
// "notification"), or NULL if the preset states none.
const struct cc_basis *cc_basis_of(const struct cc_preset *preset, const char *field);

// Return the preset called `name` (NULL = the first), or NULL.
const struct cc_preset *cc_preset_find(const struct cc_ops *ops, const char *name);

// The extras of a policy; all 0 where it has none.
const struct cc_extras *cc_extras_of(const struct cc_ops *ops);

// Called around the hooks of a guarded policy that have no flow.
struct cc_host {
    void (*enter)(const struct cc_host *host, const char *hook);
    void (*leave)(const struct cc_host *host);
};

// Calls ops->check: returns a message if the parameters contradict each other, else NULL.
const char *cc_check_params(const struct cc_ops *ops, const void *params);
// Returns true if the policy uses PINT (ops->wants_pint).
bool cc_wants_pint(const struct cc_ops *ops, const void *params);
// Credits of a flow, by ops->credits, within what receivers can grant.
struct cc_credits cc_credits_of(const struct cc_ops *ops, const void *params,
                                const struct cc_env *env);

// The helpers of this program, for cc_env.helpers.
extern const struct cc_helpers cc_helpers;

// Receives violations of the contract by policies from plugins: `violated` is called at the first
// one, with a text that names the policy. All flows of a simulation share one.
struct cc_watch {
    void *ctx;
    void (*violated)(void *ctx, const char *text);
    bool failed;
};
