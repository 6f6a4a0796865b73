// SPDX-License-Identifier: MIT
// AIMD on ECN marks: a window that grows by a packet per round trip and is cut at most once per
// round trip. The smallest useful policy for collwire. Equations, for a window W in bytes and
// packets of M bytes:
//   ACK without a mark:  W += gain * M * acked / W     marked ACK:  W = max(beta * W, M)
// Source: Chiu and Jain, 1989; ECN as in RFC 3168.
#include <collwire/cc.h>

struct aimd_params {
    double gain, beta;
};

static const struct param aimd_param_table[] = {
    PARAM_ROW("gain", RATIO, offsetof(struct aimd_params, gain), .def = "1", .min = "0.01",
              .max = "100", .help = "growth in packets per round trip"),
    PARAM_ROW("beta", RATIO, offsetof(struct aimd_params, beta), .def = "0.5", .min = "0.1",
              .max = "0.99", .help = "share of the window that a cut leaves"),
};

struct aimd { // state of a flow, zeroed when the flow begins
    double window_bytes;
    uint64_t cut_until; // no second cut before the ACK of this byte
};

static void aimd_set(struct cc *cc, struct aimd *s, double bytes)
{
    double least = cc->env->mtu_bytes, most = (double)cc_window_bytes(cc->env, 2);
    s->window_bytes = bytes < least ? least : bytes > most ? most : bytes;
    cc->cwnd_bytes = (uint64_t)s->window_bytes;
}

static void aimd_init(struct cc *cc, ps_t now)
{
    (void)now;
    aimd_set(cc, (struct aimd *)cc->priv, (double)cc_bdp_bytes(cc->env));
}

static void aimd_on_ack(struct cc *cc, const struct cc_ack *ack)
{
    const struct aimd_params *p = cc->params;
    struct aimd *s = (struct aimd *)cc->priv;
    if (ack->ce_bytes == 0) {
        double packets = ack->acked_bytes / s->window_bytes;
        aimd_set(cc, s, s->window_bytes + p->gain * cc->env->mtu_bytes * packets);
    } else if (ack->seq > s->cut_until) {
        s->cut_until = ack->snd_nxt;
        aimd_set(cc, s, s->window_bytes * p->beta);
    }
}

static const struct cc_preset aimd_presets[] = {
    {.name = "default",
     .doc = "switches mark from 100 KB on, at every rate",
     .profile = CC_RED(100000, 100001, 1, UINT64_C(100000000000), false)}};

static const struct cc_ops aimd = {
    .contract = CC_CONTRACT,
    .name = "aimd",
    .doc = "additive increase, multiplicative decrease on ECN marks",
    .paper = "Chiu and Jain, Computer Networks and ISDN Systems 17, 1989",
    .needs = CC_NEEDS_ECN,
    .params = aimd_param_table,
    .n_params = 2,
    .params_bytes = sizeof(struct aimd_params),
    .priv_bytes = sizeof(struct aimd),
    .presets = aimd_presets,
    .n_presets = 1,
    .init = aimd_init,
    .on_ack = aimd_on_ack,
};
COLLWIRE_PLUGIN(&aimd);
