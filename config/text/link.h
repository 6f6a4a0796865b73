// SPDX-License-Identifier: MIT
// A link as a scenario or a graph file gives it: {"rate", "delay", "reverse": {"rate", "delay"}}.
#pragma once

#include "config/text/object.h"
#include "config/text/read.h"

// Set the defaults of a link, the same in both directions.
void link_defaults(struct link_spec *link);

// Set what the object at `place` gives and add its keys to `keys`; what it leaves out stays. If it
// gives a rate or delay but no `reverse`, both directions are alike.
void link_read(struct reader *r, const struct place *place, struct keys *keys,
               struct link_spec *link);

json_t *link_json(const struct link_spec *link);
json_t *link_schema(void);
void link_keys(const char *prefix, const struct key_sink *to);
