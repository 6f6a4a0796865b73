// SPDX-License-Identifier: MIT
// The settings of NCCL and RCCL as users write them: the keys of a scenario's `library`, and
// environment variables. `collwire library` reads the same ones.
#pragma once

#include "collective/algorithm/collective.h"
#include "collective/nccl/environment.h"
#include "engine/base/param.h"

struct nccl_params {
    bool rccl; // no row: which library it is
    int version, algo, proto;
    uint64_t min_channels, max_channels, min_ctas, max_ctas, buffer, threads, queue_pairs,
        cross_nic;
    bool split, pxn, nvls, adaptive_routing;
    uint64_t p2p_chunk, p2p_channels;
    const char *env;
};

// The rows of NCCL or RCCL, but for the kind, and their defaults.
struct nccl_rows {
    const struct param *rows;
    size_t n;
};
struct nccl_rows nccl_rows(bool rccl);
struct nccl_params nccl_defaults(bool rccl);

// The fields, as the library takes them, and back; `env` is not part of the settings.
struct nccl_settings nccl_settings_of(const struct nccl_params *p);
struct nccl_params nccl_params_of(const struct nccl_settings *s);

// Apply environment variables "NCCL_PROTO=LL NCCL_MIN_NCHANNELS=4" to `p`. Returns 0, or -1 after
// an error at `path` for each one that is unknown or has a value out of range.
int nccl_env_apply(struct nccl_params *p, const char *env, const char *path, struct err *err);

// Whether an environment variable of NCCL changes a setting.
bool nccl_env_known(const char *name);

// The words of the keys `algo` and `proto`: "nvlstree", "ll128".
const char *executor_algorithm_word(enum nccl_algorithm algorithm);
const char *executor_protocol_word(enum nccl_protocol protocol);

// Whether NCCL has the operation as one of its functions, which is then written to `function`.
bool executor_function_of(enum coll_op op, enum nccl_function *function);
