// SPDX-License-Identifier: MIT
// A connection matrix of htsim whose triggers start messages, as the nodes of a program.
#pragma once

#include <jansson.h>

#include "engine/base/err.h"

// A list of nodes: a send and a receive for each connection, a wait for a start after 0, and for a
// trigger what it waits for on its own rank. NULL with errors, each with its line; starts are
// microseconds.
json_t *htsim_program(const char *path, struct err *err);
