// SPDX-License-Identifier: MIT
// The policies that a scenario may name: the built-in ones and those of plugins.
//
// A plugin is a shared library that exports a struct cc_plugin. Its policies are checked against
// the contract (cc_ops_check), called in a scripted trial (cc/plugin/plugin_trial.h), and stand in
// the catalogue behind guards (cc/plugin/guard.h), which check what they return in every call.
#pragma once

#include "cc/catalogue.h"
#include "collwire/loader.h"

#define PLUGIN_DIGEST 65 // bytes of a SHA-256 as text

struct guarded;

struct plugin {
    char *file;   // as named
    char *folded; // without symbolic links and ".."
    char sha256[PLUGIN_DIGEST];
    struct guarded *guards; // [n]
    size_t n;
};

struct policies {
    struct cc_catalogue catalogue;
    struct plugin **plugins; // each at a fixed address: the catalogue points into it
    size_t n_plugins;
    size_t n_borrowed;                    // the first ones belong to the copied set
    const struct collwire_loader *loader; // NULL = plugins cannot be loaded
    bool scenarios_may_load;              // `plugins` of a scenario are allowed
};

// The built-in policies. `loader` is borrowed and may be NULL.
struct policies policies_builtin(const struct collwire_loader *loader);

// A set with the same policies, to which others can be added; `from` must outlive it.
struct policies policies_copy(const struct policies *from);

// Load a plugin and add its policies. A file that is loaded already is not loaded again. Returns 0,
// or -1 with errors at `path`, and then adds none of them.
int policies_load(struct policies *p, const char *path, const char *file, struct err *err);

void policies_free(struct policies *p);
