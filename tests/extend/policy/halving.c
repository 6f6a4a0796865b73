// SPDX-License-Identifier: MIT
// A policy for tests: the window is divided by `factor` when an ACK echoes a mark, at most once a
// round trip, and grows by a packet a window of ACKs.
#include "collwire/cc.h"

struct halving_params {
    double factor;
};

struct halving_state {
    uint64_t round_end; // byte of the flow up to which no further cut is made
};

static const struct param params[] = {
    PARAM_ROW("factor", RATIO, offsetof(struct halving_params, factor), .def = "2", .min = "1.01",
              .max = "100", .help = "the window is divided by it", .source = "this test"),
};

static void init(struct cc *cc, ps_t now)
{
    (void)now;
    cc->cwnd_bytes = cc_bdp_bytes(cc->env);
}

static void on_ack(struct cc *cc, const struct cc_ack *ack)
{
    struct halving_state *s = (void *)cc->priv;
    const struct halving_params *p = cc->params;
    uint64_t mtu = cc->env->mtu_bytes;
    if (ack->ce_bytes > 0 && ack->seq >= s->round_end) {
        cc->cwnd_bytes = (uint64_t)((double)cc->cwnd_bytes / p->factor);
        s->round_end = ack->snd_nxt;
    } else {
        cc->cwnd_bytes += mtu * ack->acked_bytes / cc->cwnd_bytes;
    }
    cc->cwnd_bytes = cc->cwnd_bytes > mtu ? cc->cwnd_bytes : mtu;
}

static const struct cc_preset presets[] = {
    {.name = "default",
     .doc = "the only one",
     .profile = {.ecn = true,
                 .kmin_bytes = 30000,
                 .kmax_bytes = 30001,
                 .pmax = 1,
                 .ref_bps = UINT64_C(100000000000)}},
};

const struct cc_ops cc_halving = {
    .contract = CC_CONTRACT,
    .name = "halving",
    .doc = "divides its window at marks",
    .paper = "a test",
    .needs = CC_NEEDS_ECN,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .params_bytes = sizeof(struct halving_params),
    .priv_bytes = sizeof(struct halving_state),
    .presets = presets,
    .n_presets = 1,
    .init = init,
    .on_ack = on_ack,
};
