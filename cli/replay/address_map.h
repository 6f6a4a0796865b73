// SPDX-License-Identifier: MIT
// A table of addresses and their ranks.
#pragma once

#include <stddef.h>

#include "cli/replay/dissect.h"
#include "engine/base/err.h"

struct address_map {
    struct address_rank *list; // ascending by address
    size_t n;
};

// Read lines "address,rank" of a file; a heading line is allowed. Several addresses may have the
// same rank. Returns 0, or -1 with errors that name the file and the lines. address_map_free() in
// both cases.
int address_map_read(struct address_map *map, const char *path, struct err *err);
void address_map_free(struct address_map *map);

// The rank of an address; UINT32_MAX = the map does not have it.
uint32_t address_map_find(const struct address_map *map, const struct address *address);

// Write an address as text. `out` holds ADDRESS_TEXT bytes and is returned.
#define ADDRESS_TEXT 46
const char *address_text(const struct address *address, char *out);
