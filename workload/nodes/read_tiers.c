// SPDX-License-Identifier: MIT
// {"tiers": {"ddr": {"rate": "1600Gbps", "shared_by": "server"},
//            "pool": {"hosts": [8, 9], "stripe": "1MB", "rate": "400Gbps"},
//            "cxl": {"pool": "hierarchical", "rate": "800Gbps", "fabric_rate": "3200Gbps"}}}
#include "workload/nodes/read_tiers.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/text/rank_ranges.h"
#include "engine/text/schema_parts.h"

#define TIERS_MOST 32
#define STRIPES_MOST 1000000

static const char *const shared_words[] = {"rank", "server", "all", NULL};
enum { SHARED_RANK, SHARED_SERVER, SHARED_ALL };

static json_t *sharing_schema(void)
{
    return json_pack("{s:[o,o]}", "anyOf", schema_words(shared_words), schema_integer(1));
}

const struct job_part tier_parts[] = {
    PART_ROW("shared_by", "word or number", "rank",
             "the ranks that share one memory of the tier: none (rank), those of a server (the "
             "innermost dimension), all of the job, or so many neighbours",
             .only = PART_LISTED),
    PART_ROW("hosts", "list", "none",
             "ranks of the network, none of them the job's, that have the tier's memory: copies "
             "are messages to and from them",
             .schema = schema_ranks),
    {.own.key = "shared_by", .schema = sharing_schema, .only = PART_IN_SCHEMA},
    PARTS_END,
};

/* ---- hosts ---- */

// True if each rank of the job can exchange messages with the host.
static bool reaches_all(struct reader *r, const struct place *place, const struct job_spec *job,
                        uint32_t host)
{
    if (r->site->relays || r->site->analytical)
        return true;
    for (uint32_t i = 0; i < job_size(r, job); i++)
        if (graph_joining_dim(&r->site->ranks, job_rank(job, i), host) == GRAPH_NONE)
            return place_error(r->err, place,
                               "ranks %u and %u differ in more than one dimension; set "
                               "switch.routing.relay or use a dimension that connects all ranks",
                               job_rank(job, i), host) == 0;
    return true;
}

static bool is_of_job(const struct reader *r, const struct job_spec *job, uint32_t rank)
{
    for (uint32_t i = 0; i < job_size(r, job); i++)
        if (job_rank(job, i) == rank)
            return true;
    return false;
}

static bool host_read(struct reader *r, const struct place *item, const struct job_spec *job,
                      const uint32_t *hosts, size_t n, uint32_t *host)
{
    json_int_t value = json_is_integer(item->json) ? json_integer_value(item->json) : -1;
    if (!json_is_integer(item->json))
        return place_error(r->err, item, "must be a rank of the network, not %s",
                           json_noun(item->json)) == 0;
    if (value < 0 || value >= r->site->ranks.n_ranks)
        return place_error(r->err, item, "the network has ranks 0 to %u",
                           r->site->ranks.n_ranks - 1) == 0;
    *host = (uint32_t)value;
    for (size_t i = 0; i < n; i++)
        if (hosts[i] == *host)
            return place_error(r->err, item, "rank %u is listed twice", *host) == 0;
    if (is_of_job(r, job, *host))
        return place_error(r->err, item,
                           "rank %u runs the job itself: leave it out of the job's `ranks`",
                           *host) == 0;
    return reaches_all(r, item, job, *host);
}

uint32_t hosts_read(struct reader *r, struct place *place, const struct job_spec *job,
                    uint32_t **hosts)
{
    size_t errors = r->err->n_errors;
    if (!ranks_expand(r, place, r->site->ranks.n_ranks))
        return 0;
    size_t n = json_array_size(place->json);
    if (!json_is_array(place->json) || n == 0) {
        place_error(r->err, place, "must be a list of ranks of the network");
        return 0;
    }
    if (job_size(r, job) == 0)
        return 0;
    *hosts = memory_zeroed(n, sizeof **hosts);
    for (size_t i = 0; i < n; i++) {
        struct place item = place_item(place, i);
        host_read(r, &item, job, *hosts, i, &(*hosts)[i]);
    }
    return r->err->n_errors == errors ? (uint32_t)n : 0;
}

/* ---- who shares a memory ---- */

// Number the memories of a tier in the order of the ranks that use them first. `memory_of` has
// other numbers on entry.
static uint32_t memories_number(uint32_t *memory_of, uint32_t ranks, uint32_t most)
{
    uint32_t *number = memory_zeroed((size_t)most + 1, sizeof *number), n = 0;
    for (uint32_t i = 0; i < ranks; i++) {
        if (number[memory_of[i]] == 0)
            number[memory_of[i]] = ++n;
        memory_of[i] = number[memory_of[i]] - 1;
    }
    free(number);
    return n;
}

static void share(struct reader *r, const struct job_spec *job, struct tier *t, int word,
                  uint32_t neighbours)
{
    uint32_t ranks = job_size(r, job), server = r->site->dims[0].size;
    if (ranks == 0 || word == SHARED_RANK || neighbours == 1)
        return;
    t->memory_of = memory_zeroed(ranks, sizeof *t->memory_of);
    for (uint32_t i = 0; i < ranks; i++)
        t->memory_of[i] = word == SHARED_ALL      ? 0
                          : word == SHARED_SERVER ? job_rank(job, i) / server
                                                  : i / neighbours;
    t->n_memories = memories_number(t->memory_of, ranks, r->site->ranks.n_ranks);
}

static void read_sharing(struct reader *r, const struct place *at, const struct job_spec *job,
                         struct tier *t)
{
    if (json_is_integer(at->json)) {
        json_int_t n = json_integer_value(at->json);
        if (n < 1 || (job_size(r, job) > 0 && n > job_size(r, job)))
            place_error(r->err, at, "must be from 1 to the job's %u ranks", job_size(r, job));
        else
            share(r, job, t, -1, (uint32_t)n);
        return;
    }
    int word = at->json == NULL ? SHARED_RANK : read_word(r, at, "way to share", shared_words);
    if (word >= 0)
        share(r, job, t, word, 0);
}

/* ---- a tier ---- */

static void keys_refuse(struct reader *r, const struct place *place, const struct param *params,
                        size_t n, const char *why)
{
    for (size_t i = 0; i < n; i++) {
        struct place at = place_key(place, params[i].name);
        if (at.json != NULL)
            place_error(r->err, &at, "belongs to tiers with %s", why);
    }
}

// Keys that belong to another form of tier are errors.
static void check_form(struct reader *r, const struct place *place, const struct tier *t,
                       bool remote)
{
    struct place sharing = place_key(place, "shared_by");
    if (remote && sharing.json != NULL)
        place_error(r->err, &sharing, "cannot be combined with `hosts`: all ranks share them");
    if (!remote)
        keys_refuse(r, place, tier_remote_params, n_tier_remote_params, "`hosts`");
    if (!tier_is_pool(t))
        keys_refuse(r, place, tier_pool_params + 1, n_tier_pool_params - 1, "a `pool`");
    else if (remote)
        place_key_error(r->err, place, "pool", "cannot be combined with `hosts`");
    else if (sharing.json != NULL)
        place_error(r->err, &sharing, "cannot be combined with `pool`: all ranks share it");
    else if (!tier_is_joint(t))
        place_key_error(r->err, place, t->p.read_bps != PARAM_AUTO ? "read_rate" : "write_rate",
                        "a pool has one `rate`, of each of its memories");
    if ((remote || tier_is_pool(t)) && strcmp(t->name, "hbm") == 0)
        place_key_error(r->err, place, remote ? "hosts" : "pool", "hbm is the GPU's own memory");
}

// The most ranks of the job that one server (the innermost dimension) has.
static uint32_t server_ranks(const struct reader *r, const struct job_spec *job)
{
    uint32_t ranks = job_size(r, job), server = r->site->dims[0].size, most = 0, last = 0;
    for (uint32_t i = 0; i < ranks; i++)
        last = job_rank(job, i) / server > last ? job_rank(job, i) / server : last;
    uint32_t *counts = memory_zeroed((size_t)last + 1, sizeof *counts);
    for (uint32_t i = 0; i < ranks; i++) {
        uint32_t count = ++counts[job_rank(job, i) / server];
        most = count > most ? count : most;
    }
    free(counts);
    return most;
}

static void set_pool(const struct reader *r, const struct job_spec *job, struct tier *t)
{
    uint32_t ranks = job_size(r, job);
    t->pool = (struct pool){.kind = t->p.pool,
                            .memories = t->p.memories != PARAM_AUTO ? t->p.memories : ranks,
                            .memory_bps = t->p.rate_bps,
                            .fabric_bps = t->p.fabric_bps,
                            .port_bps = t->p.port_bps,
                            .chunk_bytes = t->p.chunk_bytes,
                            .ranks = ranks,
                            .server_ranks = server_ranks(r, job)};
}

static void read_tier(struct reader *r, const struct place *place, const struct job_spec *job,
                      struct tier *t)
{
    struct keys keys = {0};
    struct place hosts = place_key(place, "hosts"), sharing = place_key(place, "shared_by");
    if (!read_object(r, place))
        return;
    read_params(r, place, &keys, tier_params, n_tier_params, &t->p);
    read_params(r, place, &keys, tier_remote_params, n_tier_remote_params, &t->p);
    read_params(r, place, &keys, tier_pool_params, n_tier_pool_params, &t->p);
    parts_add(&keys, tier_parts);
    keys_check(r, place, &keys);
    check_form(r, place, t, hosts.json != NULL);
    if (hosts.json != NULL && r->site->analytical && !r->site->analytical_links)
        place_warn(r->err, &hosts,
                   "in closed form each stripe takes the time that it takes alone, however many a "
                   "copy has: with analytical_route \"links\" they wait for links");
    if (hosts.json != NULL)
        t->n_hosts = hosts_read(r, &hosts, job, &t->hosts);
    else if (tier_is_pool(t))
        set_pool(r, job, t);
    else
        read_sharing(r, &sharing, job, t);
}

void tiers_read(struct reader *r, const struct place *job_place, struct job_spec *job,
                struct tier_set *set)
{
    struct place tiers = place_key(job_place, "tiers");
    const char *name;
    json_t *value;
    tier_add(set, "hbm");
    if (tiers.json == NULL || !read_object(r, &tiers))
        return;
    if (json_object_size(tiers.json) > TIERS_MOST) {
        place_error(r->err, &tiers, "a job has at most %d tiers", TIERS_MOST);
        return;
    }
    json_object_foreach(tiers.json, name, value)
    {
        struct place item = place_key(&tiers, name);
        struct tier *t = strcmp(name, "hbm") == 0 ? &set->items[0] : tier_add(set, name);
        read_tier(r, &item, job, t);
        if (t->n_hosts > 0 && t->p.cls < 8)
            job->tier_classes |= (uint8_t)(1u << t->p.cls);
    }
}

/* ---- copies ---- */

static bool fits(struct reader *r, const struct tier *t, bool writes, uint64_t bytes,
                 const struct place *at)
{
    char size[UNIT_TEXT], room[UNIT_TEXT];
    uint64_t rate = tier_is_pool(t) ? PARAM_AUTO : tier_rate(t, writes);
    if (t->p.capacity_bytes != PARAM_AUTO && bytes > t->p.capacity_bytes)
        return place_error(r->err, at, "%s do not fit into tier %s, which holds %s",
                           format_bytes(bytes, size), t->name,
                           format_bytes(t->p.capacity_bytes, room)) == 0;
    if ((rate != PARAM_AUTO && (double)bytes * 8 / (double)rate > COPY_MOST_S) ||
        (tier_is_pool(t) && pool_copy_ps(&t->pool, bytes) == PS_NEVER))
        return place_error(r->err, at, "takes more than 100000 s at the rate of tier %s",
                           t->name) == 0;
    if (t->hosts != NULL && bytes / t->p.stripe_bytes >= STRIPES_MOST)
        return place_error(r->err, at,
                           "makes more than %d stripes of tier %s: a larger `stripe` "
                           "makes fewer",
                           STRIPES_MOST, t->name) == 0;
    return true;
}

bool tier_copy_check(struct reader *r, const struct tier_set *set, uint32_t from_tier,
                     uint32_t to_tier, uint64_t bytes, const struct place *to,
                     const struct place *at_bytes)
{
    const struct tier *a = &set->items[from_tier], *b = &set->items[to_tier];
    if (a == b)
        return place_error(r->err, to, "is the tier that the copy is from") == 0;
    if (a->hosts != NULL && b->hosts != NULL)
        return place_error(r->err, to,
                           "tiers %s and %s are both reached over the network: copy through a "
                           "local tier",
                           a->name, b->name) == 0;
    if ((tier_is_pool(a) && to_tier > 0) || (tier_is_pool(b) && from_tier > 0))
        return place_error(r->err, to, "a copy from or to a pool has hbm at its other end") == 0;
    bool good = fits(r, a, false, bytes, at_bytes);
    return fits(r, b, true, bytes, at_bytes) && good;
}

/* ---- the resolved form and the schema ---- */

void tiers_write(json_t *json, const char *key, const void *value, const json_t *given)
{
    const struct tier_set *set = value;
    const json_t *tiers = json_object_get(given, key);
    if (tiers == NULL)
        return;
    json_t *all = json_object();
    for (uint32_t i = 0; i < set->n; i++) {
        const struct tier *t = &set->items[i];
        const json_t *own = json_object_get(tiers, t->name);
        json_t *sharing = json_object_get(own, "shared_by");
        json_t *item = params_json(tier_params, n_tier_params, &t->p);
        if (t->hosts != NULL) {
            write_params(item, tier_remote_params, n_tier_remote_params, &t->p);
            json_object_set(item, "hosts", json_object_get(own, "hosts"));
        } else if (tier_is_pool(t)) {
            write_params(item, tier_pool_params, n_tier_pool_params, &t->p);
        } else if (sharing != NULL) {
            json_object_set(item, "shared_by", sharing);
        } else {
            json_object_set_new(item, "shared_by", json_string(shared_words[SHARED_RANK]));
        }
        json_object_set_new(all, t->name, item);
    }
    json_object_set_new(json, key, all);
}

json_t *tiers_schema(void)
{
    json_t *tier = schema_table(tier_params, n_tier_params);
    schema_params(tier, tier_remote_params, n_tier_remote_params);
    schema_params(tier, tier_pool_params, n_tier_pool_params);
    parts_schema(tier, tier_parts);
    return json_pack("{s:s,s:o}", "type", "object", "additionalProperties", tier);
}
