// SPDX-License-Identifier: MIT
// PowerTCP: a window controlled by the power of the busiest queue on the path, measured by in-band
// telemetry (INT). The law is in cc/powertcp_common.h.
//
// Every ACK gives each hop's power since the previous record: the current lambda = dq/dt +
// dbytes/dt, times the voltage q + B*tau, divided by B^2 tau. The largest power of the path is
// used.
//
// A record of a different port (the first record, or a changed path) only becomes the reference of
// its hop, so a path that changes with every packet is measured by the hops that do not change.
// Records in the wrong order, or so far apart that the 8-byte encoding may have wrapped twice, also
// become references only. Hops beyond the eighth are ignored.
// W is set at every ACK, so a growing queue is counteracted within the round trip
// (cc/powertcp_delay.c acts once per round trip). The equilibrium of n flows is a queue of n/N
// BDPs; it is larger for short windows, since bytes in flight are windows rounded up to packets: 16
// flows with N = 10 at 100G and 4.7 us have 1.6 BDPs with 1000 B (90 KB; formula: 84) and 2 with
// 4096 B (116 KB; formula: 94), see cc/powertcp_common.h.
// The default N of 10 is that of the authors' Linux sources; their ns-3 scripts have beta = 150
// Mb/s at 25G, which is N = 167.
// Left out: reaction to loss, which the paper does not specify.
// Differs: W_old is smoothed like the power; without this a few flows oscillate. See
// cc/powertcp_common.h.
// Idle restart: see cc/powertcp_common.h; records older than a base RTT of idle time are dropped.
//
// Sources: Addanki, Michel, Schmid, NSDI 2022, algorithm 1; the authors' sources, see
// cc/powertcp_common.c.
#include "cc/powertcp_common.h"

enum { HOPS = 8 };

struct hop_seen {
    ps_t t_ps;
    uint64_t tx_bytes;
    uint32_t queue_bytes, port;
};

struct powertcp {
    struct power power;
    struct hop_seen hops[HOPS]; // the last record of each hop
    uint8_t n_hops;             // number of valid records
};

static const struct param powertcp_param_table[] = {{.include = power_law_params}};

static const struct cc_preset powertcp_presets[] = {
    {.name = "nsdi22",
     .doc = "the paper's; switches do not mark",
     .holds_bps = CC_GBPS(800),
     .profile = {.ecn = false}},
};

static struct powertcp *powertcp_of(struct cc *cc) { return (struct powertcp *)(void *)cc->priv; }

// ---- power ----

// Bytes that the link carries in time `t`.
static double link_bytes(const struct int_hop *hop, ps_t t)
{
    return (double)hop->rate_bps * (double)t * 1.25e-13; // 1/8e12
}

// Time between the two records; at most 0 if they cannot be compared.
static ps_t time_between(const struct int_hop *now, const struct int_hop *before)
{
    if (now->port != before->port)
        return 0;
    ps_t dt = int_hop_time_since(now, before);
    if (now->wraps && (dt >= INT_WRAP_PS / 2 || link_bytes(now, dt) >= (double)INT_WRAP_BYTES / 2))
        return 0;
    return dt;
}

// Algorithm 1, NORMPOWER: (lambda/B) (q + B tau)/(B tau). The current is never negative, although
// rounded records may give a negative value.
static double hop_power(const struct int_hop *now, const struct int_hop *before, ps_t dt, ps_t tau)
{
    double bdp_bytes = link_bytes(now, tau);
    double arrived_bytes = (double)int_hop_bytes_since(now, before) + (double)now->queue_bytes -
                           (double)before->queue_bytes;
    if (arrived_bytes < 0)
        arrived_bytes = 0;
    return arrived_bytes * (now->queue_bytes + bdp_bytes) / (link_bytes(now, dt) * bdp_bytes);
}

// Store the largest power of the path in *power; returns the time over which it was measured, 0 =
// no measurement. The records become the references of the next measurement.
static ps_t path_power(struct cc *cc, const struct cc_ack *ack, double *power)
{
    struct powertcp *s = powertcp_of(cc);
    ps_t over_ps = 0;
    uint8_t n = ack->n_hops < HOPS ? ack->n_hops : HOPS;
    for (uint8_t i = 0; i < n; i++) {
        const struct int_hop *now = &ack->hops[i];
        struct hop_seen *seen = &s->hops[i];
        struct int_hop before = {.t_ps = seen->t_ps,
                                 .tx_bytes = seen->tx_bytes,
                                 .queue_bytes = seen->queue_bytes,
                                 .port = seen->port & INT32_MAX};
        ps_t dt = i < s->n_hops ? time_between(now, &before) : 0;
        if (dt > 0) {
            double hop = hop_power(now, &before, dt, cc->env->base_rtt_ps);
            if (over_ps == 0 || hop > *power) {
                *power = hop;
                over_ps = dt;
            }
        }
        *seen = (struct hop_seen){now->t_ps, now->tx_bytes, now->queue_bytes, now->port};
    }
    s->n_hops = n;
    return over_ps;
}

// ---- hooks ----

static void powertcp_on_ack(struct cc *cc, const struct cc_ack *ack)
{
    struct powertcp *s = powertcp_of(cc);
    if (ack->n_hops == 0)
        return;
    bool first = s->n_hops == 0;
    double power = 0;
    ps_t over_ps = path_power(cc, ack, &power);
    if (first)
        power_round_first(&s->power, ack);
    if (over_ps == 0)
        return;
    power_sample(cc, &s->power, power, over_ps);
    power_old_window(cc, &s->power, ack, over_ps);
    power_window_update(cc, &s->power, s->power.smoothed, s->power.old_bytes);
    if (power_round_over(&s->power, ack))
        power_round_turn(&s->power, ack);
}

static void powertcp_init(struct cc *cc, ps_t now)
{
    (void)now;
    struct powertcp *s = powertcp_of(cc);
    *s = (struct powertcp){0};
    power_begin(cc, &s->power);
}

static void powertcp_on_post(struct cc *cc, const struct cc_post *post)
{
    switch (power_idle(cc, post)) {
    case CC_IDLE_RESTART:
        powertcp_init(cc, post->now_ps);
        break;
    case CC_IDLE_DROP_SAMPLES:
        powertcp_of(cc)->n_hops = 0;
        break;
    case CC_IDLE_KEEP:
        break;
    }
}

static size_t powertcp_observe(const struct cc *cc, double *out, size_t cap)
{
    return power_observe(&((const struct powertcp *)(const void *)cc->priv)->power, out, cap);
}

extern const struct cc_ops cc_powertcp;
const struct cc_ops cc_powertcp = {
    .contract = CC_CONTRACT,
    .name = "powertcp",
    .doc = "window divided by the power (current times voltage) that telemetry measures",
    .paper = "Addanki et al., NSDI 2022",
    .needs = CC_NEEDS_INT | CC_NEEDS_PACING,
    .params = powertcp_param_table,
    .n_params = sizeof powertcp_param_table / sizeof powertcp_param_table[0],
    .params_bytes = sizeof(struct power_params),
    .priv_bytes = sizeof(struct powertcp),
    .presets = powertcp_presets,
    .n_presets = sizeof powertcp_presets / sizeof powertcp_presets[0],
    .init = powertcp_init,
    .on_post = powertcp_on_post,
    .on_ack = powertcp_on_ack,
    .observe = powertcp_observe,
    .observed = power_observed,
};
