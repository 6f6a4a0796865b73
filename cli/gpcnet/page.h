// SPDX-License-Identifier: MIT
// The folder of gpcnet's results: gpcnet.json, a table of impacts and a page of the report.
#pragma once

#include "cli/gpcnet/experiment.h"
#include "engine/base/text.h"

struct gpcnet_page {
    struct text text;
    FILE *csv;     // the table: a row for each network, policy, test and seed
    json_t *whole; // gpcnet.json
    json_t *why;   // sentences
    bool networks; // there are several
};

void gpcnet_page_begin(struct gpcnet_page *page, bool networks);

// Add the results of a network; `name` is that of its scenario.
void gpcnet_page_add(struct gpcnet_page *page, const struct experiment *g);

// Write the folder and release the page. `dir` NULL = write nothing. Returns 0, or -1 with errors.
int gpcnet_page_end(struct gpcnet_page *page, const char *dir, struct err *err);
