// SPDX-License-Identifier: MIT
// An output file for tests, which contains the number of messages.
#include "engine/text.h"
#include "report/metrics.h"

char *toy_txt(const struct result *r) { return text_format("%zu messages\n", r->n_flows); }
