// SPDX-License-Identifier: MIT
// The key `tiers` of a job: memories beside the GPU's own, by name.
#pragma once

#include "workload/read/job_reader.h"
#include "workload/tiers/tier.h"

// Read `tiers` into the set, whose first tier is then `hbm`, and add its name to `keys`.
void tiers_read(struct reader *r, const struct place *job_place, struct keys *keys,
                struct job_spec *job, struct tier_set *set);
// The tiers for the resolved job, as far as the job as written, `given`, has any.
void tiers_write(json_t *json, const struct tier_set *set, const json_t *given);
void tiers_schema(json_t *object);

#define TIERS_KEY                                                                                  \
    {                                                                                              \
        "tiers", "object", "{\"hbm\": {}}",                                                        \
            "memories by name, between which nodes of kind copy move data: {\"ddr\": {\"rate\": "  \
            "\"1600Gbps\"}}; collwire list workload tier"                                          \
    }

// The keys of a tier that are in no table.
extern const struct own_key tier_keys[];
extern const size_t n_tier_keys;

// Read a list of ranks of the network that are not the job's and that exchange messages with it.
// Returns their number, 0 with an error; *hosts is to be freed.
uint32_t hosts_read(struct reader *r, struct place *place, const struct job_spec *job,
                    uint32_t **hosts);

#define COPY_MOST_S 1e5 // that a copy may take

// Check that a rank of the job can copy `bytes` between two tiers, whose names are at `from` and
// `to`; adds an error at one of the places if not.
bool tier_copy_check(struct reader *r, const struct tier_set *set, uint32_t from_tier,
                     uint32_t to_tier, uint64_t bytes, const struct place *to,
                     const struct place *at_bytes);
