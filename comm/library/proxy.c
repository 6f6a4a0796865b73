// SPDX-License-Identifier: MIT
// A proxy handles its messages one after the other, each for a fixed time.
#include <stdlib.h>
#include <string.h>

#include "comm/library/library_internal.h"
#include "engine/memory.h"
#include "engine/rng.h"

static void run_item(const struct proxy_item *item, ps_t now)
{
    struct connection *c = item->connection;
    switch (item->task) {
    case PROXY_SEND:
        connection_post(c, now);
        return;
    case PROXY_CLEAR:
        connection_clear(c, now);
        return;
    default:
        connection_arrive(c, now);
        if (c->receiver != NULL)
            block_go_on(c->receiver, now);
    }
}

static void on_due(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct proxy *p = timer->data;
    const struct library_env *env = &p->library->env;
    while (p->n > 0 && p->items[p->first].due_ps <= e->now_ps) {
        struct proxy_item item = p->items[p->first];
        p->first = (p->first + 1) & (p->cap - 1);
        p->n--;
        (*env->delays)--;
        uint32_t path = path_own(env->path_book, item.path);
        path_extend(env->path_book, path, PATH_LIBRARY, e->now_ps);
        uint32_t before = path_enter(env->path_book, path);
        run_item(&item, e->now_ps);
        path_leave(env->path_book, before);
    }
    if (p->n > 0)
        sim_timer_start(e, timer, p->items[p->first].due_ps);
}

static struct proxy *proxy_of(struct library *l, uint32_t node)
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

static void items_grow(struct proxy *p)
{
    uint32_t cap = p->cap ? 2 * p->cap : 16;
    struct proxy_item *items = memory_zeroed(cap, sizeof *items);
    for (uint32_t i = 0; i < p->n; i++)
        items[i] = p->items[(p->first + i) & (p->cap - 1)];
    free(p->items);
    p->items = items;
    p->cap = cap;
    p->first = 0;
}

// Returns the delay that noise of the host adds before a message.
static ps_t noise_ps(struct proxy *p, enum proxy_task task)
{
    const struct library_env *env = &p->library->env;
    if (env->noise.mean_ps == 0 || task != PROXY_SEND)
        return 0;
    uint64_t key = hash_mix(((uint64_t)env->job << 48) + p->n_sent++);
    return noise_draw_ps(&env->noise, env->seed, p->node, key);
}

void proxy_add(struct library *l, uint32_t node, enum proxy_task task, struct connection *c,
               ps_t latency_ps, ps_t busy_ps, ps_t now)
{
    struct proxy *p = proxy_of(l, node);
    if (p->n == p->cap)
        items_grow(p);
    ps_t start_ps = now + latency_ps + noise_ps(p, task);
    p->free_ps = (p->free_ps > start_ps ? p->free_ps : start_ps) + busy_ps;
    (*l->env.delays)++;
    p->items[(p->first + p->n++) & (p->cap - 1)] =
        (struct proxy_item){.due_ps = p->free_ps,
                            .connection = c,
                            .path = path_take(l->env.path_book, now),
                            .task = (uint8_t)task};
    if (p->n == 1)
        sim_timer_start(l->env.engine, &p->timer, p->free_ps);
}

void proxies_free(struct library *l)
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
