// SPDX-License-Identifier: MIT
// Where a value was measured, and the sums of the results there.
#pragma once

#include <jansson.h>
#include <stdbool.h>

// A place: "" is all of the run, "rank3" a node, "leaf0->rank3" a port or a pair of ranks.
// `other_end` = a counter that stands at the other end of what the results count.
struct where {
    const char *place;
    bool other_end;
};

// A number of an object; NAN = there is none.
double number_at(const json_t *o, const char *key);
// A number by its path, "recovery.naks"; NAN = there is none.
double number_at_path(const json_t *o, const char *path);
// Whether a name is one direction of a link, "a->b", and the other name its other one.
bool is_opposite(const char *a, const char *b);
// Whether a message is of the place.
bool is_between(const json_t *flow, struct where w);
// The sum or the mean of a number over the messages of a place; NAN = there are none.
double over_flows(const json_t *metrics, struct where w, const char *key, bool mean);
// The sum of a count, or its maximum, over the entries of a list at a place; `none` = there is no
// such entry.
double at_place(const json_t *list, struct where w, const char *key, bool most, double none);
// The same over the links of a place, which may be several: "leaf*->rank*". NAN = there is none.
double at_links(const json_t *metrics, struct where w, const char *key, bool most);
// Counts of lists without entries of 0: a place of none of them has 0, if it is one of the network;
// else NAN.
double zero_at(const json_t *metrics, struct where w);
