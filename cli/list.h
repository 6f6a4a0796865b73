// SPDX-License-Identifier: MIT
// `collwire list`: the catalogue of what a scenario can name, with every parameter.
#pragma once

#include <stdio.h>

#include "cc/catalogue.h"

// Print the kinds of `what` (cc, transport, topology, collective, workload, switch, metrics; NULL =
// all of them), or the parameters of its `name` (NULL = none asked for). 0, or -1 with a line on stderr
// where a word is unknown.
int list_print(FILE *out, const char *what, const char *name, const struct cc_catalogue *policies);
