// SPDX-License-Identifier: MIT
// System files of ASTRA-sim 1.0, "key: value" lines: chunks, order and algorithms of collectives.
#pragma once

#include "collective/algorithm/schedule.h"
#include "engine/text/read.h"

// Read the settings in `file`, relative to folder `dir`, into *s, whose dimensions (n_dims,
// dim_size, dim_bandwidth) the caller has set. Returns 0, or -1 with errors at `path` that name
// file and line, and a warning that names the keys without effect. `copy`: if not NULL, an object
// that receives the other keys as they are.
int astra_system_read(const char *dir, const char *file, const char *path, struct coll_schedule *s,
                      json_t *copy, struct err *err);

// Read the same settings from a scenario's `system`: an object of the same keys, or the name of a
// file.
void astra_system_place(struct reader *r, const struct place *place, struct coll_schedule *s);
