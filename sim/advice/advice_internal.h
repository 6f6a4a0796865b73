// SPDX-License-Identifier: MIT
// Functions that the files of the advice share: one for each subject.
#pragma once

#include "engine/base/text.h"
#include "sim/advice/advice.h"

// Append a warning, unless there is one of its kind with this text; takes over the text.
void advice_warn(struct advice *a, enum advice_kind kind, const char *key, char *text);

// Append the value of a setting in a dimension.
void advice_auto(struct advice *a, const char *key, uint32_t dim, const char *value, bool rule);

// Keep one value of a setting that has the same in all dimensions; give others their full path.
void advice_merge_dims(struct advice *a, uint32_t n_dims);

// The path between the two ranks that are farthest apart in links, and its properties by which a
// policy sets its parameters.
struct advice_path {
    uint32_t src, dst;
    struct transport_path path;
    struct cc_env env;
};
// Returns false if no message takes the dimension.
bool advice_path(const struct fabric *fabric, uint32_t dim, uint32_t transport,
                 struct advice_path *out);

// " of tcp" and " of tcp of dimension 1"; nothing where there is only one. Returns `text`.
const char *advice_which(const struct fabric *fabric, uint32_t transport, char text[64]);
void advice_where(const struct fabric *fabric, uint32_t dim, uint32_t transport, char text[64]);

// Returns the window with which a policy lets a new flow begin, where that is its largest; else
// CC_UNLIMITED, as where flows start slowly and grow.
uint64_t advice_policy_window(const struct transport_dim *dim, const struct cc_env *env);

void advise_marks(struct advice *a, const struct fabric *fabric);
void advise_windows(struct advice *a, const struct fabric *fabric);
void advise_headers(struct advice *a, const struct fabric *fabric);
void advise_headroom(struct advice *a, const struct fabric *fabric);
void advise_subscription(struct advice *a, const struct fabric *fabric);
void advise_unknowns(struct advice *a, const struct fabric *fabric);
void advise_timers(struct advice *a, const struct fabric *fabric, const struct workload *workload);
void advise_autos(struct advice *a, const struct fabric *fabric);

// A lower bound of the time of the jobs: the bytes of each rank at the rate of its ports, and the
// last planned start; 0 = not known, as with jobs that compute.
ps_t advice_least_time(const struct fabric *fabric, const struct workload *workload);
