// SPDX-License-Identifier: MIT
// Which kinds of an object have a key that the kind at hand does not have.
#pragma once

struct cc_catalogue;

struct object;

#define OWNERS_NAMED 6 // kinds that are named
#define OWNERS_TEXT 160

// Write the names of the kinds of an object (topology, workload, ..) that have this key: "training,
// llm", with ".." for those beyond OWNERS_NAMED; "" = none has it. Returns `buf`.
const char *key_owners(const struct object *o, const struct cc_catalogue *policies, const char *key,
                       char buf[OWNERS_TEXT]);
