// SPDX-License-Identifier: MIT
// Shared by the check and the source of a set of traces.
#pragma once

#include "workload/chakra/set.h"

// Make a node of the program of a trace's node. During the check, new texts and tags get numbers.
// Returns 0, or -1 with an error at `path`.
int trace_convert(struct trace_set *set, uint32_t rank, const struct trace *t,
                  const struct trace_node *from, struct node *node, const char *path,
                  struct err *err);

uint32_t trace_word(struct trace_words *words, const char *text); // its number, added if it is new
uint32_t trace_tag_number(struct trace_set *set, uint64_t tag, uint64_t bytes);
