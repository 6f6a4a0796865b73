// SPDX-License-Identifier: MIT
// Receiver credit congestion control (RCCC) of Ultra Ethernet: how receivers grant credits, with
// its parameters; for the policies rccc and nscc_rccc.
//
// A flow starts with credits for one and a half bandwidth-delay products, which nobody has granted
// (speculative). The first report of its receiver ends that; from then on it sends what the
// receiver grants, in pieces of `grant` bytes, to its flows in turn, at 99 % of the line rate
// together. The transport carries requests and grants; docs/uec.md has the rules.
//
// Source: uet-htsim of the Ultra Ethernet Consortium (commit 40ccb05), the public reference of UEC
// 1.0, section 3.6.14; the specification itself is authoritative.
#pragma once

#include "collwire/cc.h"

struct rccc_params {
    double rate, initial_bdp;
    uint64_t grant_bytes;
};

// Rows of a struct rccc_params, to include in a policy's table.
extern const struct param rccc_credit_params[];

struct cc_credits rccc_credits_of(const struct rccc_params *p, const struct cc_env *env);
