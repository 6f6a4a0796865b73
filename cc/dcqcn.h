// SPDX-License-Identifier: MIT
// Parameters and presets of DCQCN, which are in cc/dcqcn_params.c.
#pragma once

#include "collwire/cc.h"

#define DCQCN_PAPER "Zhu et al., SIGCOMM 2015"

enum alpha_update { ALPHA_ON_CNP, ALPHA_ON_TICK };
enum hyper { HYPER_BOTH_STAGES, HYPER_LEADING_STAGE };
enum cut_target { TARGET_ALWAYS, TARGET_AFTER_INCREASE };

struct dcqcn_params {
    double g, min_cut;
    ps_t alpha_timer_ps, rate_timer_ps, cut_interval_ps;
    uint64_t byte_counter_bytes, f;
    struct line_rate rate_ai, rate_hai, min_rate;
    int alpha_update, hyper, cut_target; // the enums above
    struct cc_cap window;
};

enum { DCQCN_PARAMS = 14, DCQCN_PRESETS = 5 };
extern const struct param dcqcn_param_table[DCQCN_PARAMS];
extern const struct cc_preset dcqcn_presets[DCQCN_PRESETS];
