// SPDX-License-Identifier: MIT
// Tables of a flow's policy: which fields change while events are processed, and how they repeat.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "transport/state_internal.h"

#define F(member, kind) STATE_FIELD(struct cc, member, kind)
static const struct state_field cc_fields[] = {
    F(ops, CONFIG),       F(params, CONFIG), F(env, CONFIG),          F(rate_bps, PLAIN),
    F(cwnd_bytes, PLAIN), F(path, PLAIN),    F(timer_at_ps, BY_HAND), // cc_extras.shift does `priv`
};
STATE_TABLE(cc_table, struct cc, cc_fields);
#undef F

static void save_policy(struct hosts_visit *v, struct state *st, const struct cc *cc, uint32_t flow,
                        struct state_base bytes)
{
    const struct cc_ops *ops = cc->ops;
    const struct cc_extras *extras = cc_extras_of(ops);
    const struct cc_shift origin = {-st->now_ps, UINT64_C(0) - bytes.from};
    size_t size = cc_bytes(ops);
    if (size > v->scratch_bytes) {
        v->scratch = memory_resize(v->scratch, size, 1);
        v->scratch_bytes = size;
    }
    struct cc *copy = v->scratch;
    memcpy(copy, cc, size);
    v->flows[flow].policy_at = st->n;
    extras->shift(copy, &origin);
    state_plain(st, copy->priv, ops->priv_bytes);
    v->flows[flow].policy_end = st->n;
    if (extras->forget) {
        memcpy(copy, cc, size);
        extras->forget(copy);
        state_plain(st, copy->priv, ops->priv_bytes);
    }
    v->flows[flow].rest_end = st->n;
}

void hosts_visit_policy(struct hosts_visit *v, struct state *st, struct sender *s,
                        struct state_base bytes)
{
    struct cc *cc = s->cc;
    const struct cc_ops *ops = cc->ops;
    const struct cc_extras *extras = cc_extras_of(ops);
    state_visit(st, &cc_table, cc, s->flow);
    for (unsigned t = 0; t < CC_TIMERS; t++)
        state_time(st, &cc->timer_at_ps[t]);
    struct flow_state *f = &v->flows[s->flow];
    if (st->mode == STATE_SAVE)
        f->policy_at = f->policy_end = f->rest_end = st->n;
    if (ops->priv_bytes == 0)
        return;
    const struct cc_shift by = {st->shift_ps, bytes.moved};
    if (!extras->shift)
        state_refuse(st, "the policy does not declare its state (cc_extras.shift)");
    else if (st->mode == STATE_SAVE)
        save_policy(v, st, cc, s->flow, bytes);
    else if (!v->at_rest[s->flow])
        extras->shift(cc, &by);
}
