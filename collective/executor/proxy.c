// SPDX-License-Identifier: MIT
// A proxy handles its items one after the other, each for a fixed time. An item whose notice comes
// later does not delay other items that are ready.
#include <stdlib.h>
#include <string.h>

#include "collective/executor/executor_internal.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"

/* ---- the heap ---- */

static bool is_before(const struct proxy_item *a, const struct proxy_item *b)
{
    // Of items with equal times the one that was added first comes first.
    return a->from_ps != b->from_ps ? a->from_ps < b->from_ps : a->turn < b->turn;
}

static void items_add(struct proxy *p, struct proxy_item item)
{
    if (p->n == p->cap) {
        p->cap = p->cap > 0 ? 2 * p->cap : 16;
        p->items = memory_resize(p->items, p->cap, sizeof *p->items);
    }
    uint32_t at = p->n++;
    for (; at > 0 && is_before(&item, &p->items[(at - 1) / 2]); at = (at - 1) / 2)
        p->items[at] = p->items[(at - 1) / 2];
    p->items[at] = item;
}

static struct proxy_item items_take(struct proxy *p)
{
    struct proxy_item first = p->items[0], last = p->items[--p->n];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < p->n && is_before(&p->items[child + 1], &p->items[child]))
            child++;
        if (child >= p->n || !is_before(&p->items[child], &last))
            break;
        p->items[at] = p->items[child];
        at = child;
    }
    p->items[at] = last;
    return first;
}

/* ---- items ---- */

static void arm(struct proxy *p)
{
    const struct proxy_item *next = &p->items[0];
    ps_t begin_ps = next->from_ps > p->free_ps ? next->from_ps : p->free_ps;
    sim_timer_start(p->library->env.engine, &p->timer, begin_ps + next->busy_ps);
}

static void on_due(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct proxy *p = timer->data;
    const struct executor_env *env = &p->library->env;
    struct proxy_item item = items_take(p);
    p->free_ps = e->now_ps;
    tally_add(env->delays, -1);
    uint32_t path = path_own(env->path_book, item.path);
    path_extend(env->path_book, path, PATH_LIBRARY, e->now_ps);
    uint32_t before = path_enter(env->path_book, path);
    item.call(item.connection, e->now_ps); // may add items
    path_leave(env->path_book, before);
    if (p->n > 0)
        arm(p);
}

static struct proxy *proxy_of(struct executor *l, uint32_t node)
{
    if (node >= l->n_proxies) {
        uint32_t n = node + 1 > 2 * l->n_proxies ? node + 1 : 2 * l->n_proxies;
        l->proxies = memory_resize(l->proxies, n, sizeof(struct proxy *));
        memset(l->proxies + l->n_proxies, 0, (n - l->n_proxies) * sizeof(struct proxy *));
        l->n_proxies = n;
    }
    if (l->proxies[node] == NULL) {
        struct proxy *p = l->proxies[node] = memory_zeroed(1, sizeof *p);
        p->library = l;
        p->node = node;
        sim_timer_init_locked(l->env.engine, &p->timer, node, on_due, p);
    }
    return l->proxies[node];
}

ps_t proxy_noise_ps(struct executor *l, uint32_t node)
{
    const struct executor_env *env = &l->env;
    if (env->noise.mean_ps == 0)
        return 0;
    // The key of the draw is the number of the message and not its time, so that the noise of a
    // message does not depend on that of other messages.
    uint64_t key = hash_mix(((uint64_t)env->job << 48) + proxy_of(l, node)->n_sent++);
    return noise_draw_ps(&env->noise, env->seed, node, key);
}

void proxy_add(struct executor *l, uint32_t node, proxy_call *call, struct connection *c,
               ps_t latency_ps, ps_t busy_ps, ps_t now)
{
    struct proxy *p = proxy_of(l, node);
    tally_add(l->env.delays, 1);
    items_add(p, (struct proxy_item){.from_ps = now + latency_ps,
                                     .busy_ps = busy_ps,
                                     .turn = p->turn++,
                                     .connection = c,
                                     .path = path_take(l->env.path_book, now),
                                     .call = call});
    // The new item may be the next one.
    arm(p);
}

void proxies_free(struct executor *l)
{
    for (uint32_t i = 0; i < l->n_proxies; i++) {
        struct proxy *p = l->proxies[i];
        if (p == NULL)
            continue;
        sim_timer_end(l->env.engine, &p->timer);
        free(p->items);
        free(p);
    }
    free(l->proxies);
}
