// SPDX-License-Identifier: MIT
// Keys of tiers, and what follows from them.
#include "workload/tiers/tier.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

#define FIELD(name) offsetof(struct tier_params, name)
#define RATE(key, member, text)                                                                    \
    {                                                                                              \
        .name = key, .type = PARAM_RATE, .offset = FIELD(member), .def = "auto", .min = "1Mbps",   \
        .can_auto = true, .help = text                                                             \
    }

const struct param tier_params[] = {
    RATE("rate", rate_bps, "of a memory's reads and writes together; auto = no limit"),
    RATE("read_rate", read_bps, "of reads beside writes; auto = `rate`"),
    RATE("write_rate", write_bps, "of writes beside reads; auto = `rate`"),
    PARAM_ROW("latency", TIME, FIELD(latency_ps), .def = "0ns", .max = "1s",
              .help = "of a copy before its first byte; of a remote tier, of each access there"),
    PARAM_ROW("capacity", BYTES, FIELD(capacity_bytes), .def = "auto", .min = "1B", .max = "1PB",
              .can_auto = true,
              .help = "a copy of more bytes is an error; of a remote tier, of all hosts together; "
                      "auto = no limit"),
};
const size_t n_tier_params = sizeof tier_params / sizeof *tier_params;

const struct param tier_remote_params[] = {
    PARAM_ROW("stripe", BYTES, FIELD(stripe_bytes), .def = "1MB", .min = "512B", .max = "1GB",
              .help = "with `hosts`: consecutive bytes at one host, and bytes of a message with "
                      "data; the next stripe is at the next host"),
    PARAM_ROW("request", BYTES, FIELD(request_bytes), .def = "64B", .min = "1B", .max = "64KB",
              .help = "with `hosts`: bytes of the message that asks a host to read, and of the one "
                      "that says that it has written",
              .source =
                  "NVM Express over Fabrics 1.1, section 2.1: a command capsule has 64 bytes"),
    PARAM_ROW("class", COUNT, FIELD(cls), .def = "auto", .max = "5", .can_auto = true,
              .help = "with `hosts`: traffic class of its messages; auto = that of the job"),
};
static const char *const pools[] = {"none", "hierarchical", "ring", "mesh", NULL};
#define ASTRA "Won et al., ISPASS 2023"

const struct param tier_pool_params[] = {
    PARAM_ROW("pool", ENUM, FIELD(pool), .choices = pools, .def = "none",
              .help = "memories with a fabric of their own, in closed form: all ranks copy as much "
                      "at once; `rate` is that of each memory",
              .source = ASTRA),
    PARAM_ROW("memories", COUNT, FIELD(memories), .def = "auto", .min = "1", .max = "1000000",
              .can_auto = true,
              .help = "of a pool; auto = one for each rank. Those of a ring or mesh are beside the "
                      "ranks"),
    RATE("fabric_rate", fabric_bps,
         "of a pool: hierarchical: from its switches to each server; ring, mesh: of each link; "
         "auto = no limit"),
    RATE("port_rate", port_bps, "of a pool: of a rank's port; auto = no limit"),
    PARAM_ROW("chunk", BYTES, FIELD(chunk_bytes), .def = "4KiB", .min = "1B", .max = "1GB",
              .help = "of a pool: what its memories, fabric and ports work on at a time",
              .source = ASTRA),
};
const size_t n_tier_pool_params = sizeof tier_pool_params / sizeof *tier_pool_params;

const size_t n_tier_remote_params = sizeof tier_remote_params / sizeof *tier_remote_params;

uint32_t tier_find(const struct tier_set *set, const char *name)
{
    for (uint32_t i = 0; i < set->n; i++)
        if (strcmp(set->items[i].name, name) == 0)
            return i;
    return TIER_NONE;
}

struct tier *tier_add(struct tier_set *set, const char *name)
{
    set->items = memory_resize(set->items, set->n + 1, sizeof *set->items);
    struct tier *t = &set->items[set->n++];
    *t = (struct tier){.name = memory_text(name)};
    params_default(tier_params, n_tier_params, &t->p);
    params_default(tier_remote_params, n_tier_remote_params, &t->p);
    params_default(tier_pool_params, n_tier_pool_params, &t->p);
    return t;
}

void tier_set_free(struct tier_set *set)
{
    for (uint32_t i = 0; i < set->n; i++) {
        free(set->items[i].name);
        free(set->items[i].memory_of);
        free(set->items[i].hosts);
    }
    free(set->items);
    *set = (struct tier_set){0};
}

bool tier_is_joint(const struct tier *t)
{
    return t->p.read_bps == PARAM_AUTO && t->p.write_bps == PARAM_AUTO;
}

uint64_t tier_rate(const struct tier *t, bool writes)
{
    uint64_t own = writes ? t->p.write_bps : t->p.read_bps;
    return own != PARAM_AUTO ? own : t->p.rate_bps;
}

bool tier_set_is_shared(const struct tier_set *set)
{
    for (uint32_t i = 0; i < set->n; i++)
        if (set->items[i].memory_of != NULL)
            return true;
    return false;
}

uint64_t tier_message_bytes(const struct tier *from, const struct tier *to, uint64_t bytes)
{
    const struct tier *remote = from->hosts != NULL ? from : to;
    if (remote->hosts == NULL)
        return 0;
    uint64_t stripes = (bytes + remote->p.stripe_bytes - 1) / remote->p.stripe_bytes;
    return bytes + remote->p.request_bytes *
                       (stripes < remote->n_hosts ? stripes : (uint64_t)remote->n_hosts);
}
