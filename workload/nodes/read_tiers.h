// SPDX-License-Identifier: MIT
// The key `tiers` of a job: memories beside the GPU's own, by name.
#pragma once

#include "workload/read/job_reader.h"
#include "workload/tiers/tier.h"

// Read `tiers` into the set, whose first tier is then `hbm`.
void tiers_read(struct reader *r, const struct place *job_place, struct job_spec *job,
                struct tier_set *set);
void tiers_write(json_t *json, const char *key, const void *value, const json_t *given);
json_t *tiers_schema(void);

// Its row for a struct tier_set at member `at` of the settings struct `of`.
#define TIERS_PART(of, at, only_)                                                                  \
    PART_ROW("tiers", "object", "{\"hbm\": {}}",                                                   \
             "memories by name, between which nodes of kind copy move data: {\"ddr\": {\"rate\": " \
             "\"1600Gbps\"}}; collwire list workload tier",                                        \
             .offset = offsetof(of, at), .write = tiers_write, .schema = tiers_schema,             \
             .only = only_)

// The keys of a tier that are in no table.
extern const struct job_part tier_parts[];

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
