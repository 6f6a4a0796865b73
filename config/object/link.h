// SPDX-License-Identifier: MIT
// A link as a scenario or a graph file gives it: {"rate", "delay", "reverse": {"rate", "delay"}}.
#pragma once

#include "engine/text/object.h"
#include "engine/text/read.h"
#include "net/topology/topology.h"

extern const struct param link_params[];
extern const size_t n_link_params;

// Set the defaults of a link, the same in both directions.
void link_defaults(struct link_spec *link);

// Read a link into *link and add the keys of the object at `place` to `keys`; missing keys keep
// their values. If a rate or delay is given but no `reverse`, both directions are alike.
void link_read(struct reader *r, const struct place *place, struct keys *keys,
               struct link_spec *link);

json_t *link_json(const struct link_spec *link);
json_t *link_schema(void);
void link_keys(const char *prefix, const struct key_sink *to);
