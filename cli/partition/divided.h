// SPDX-License-Identifier: MIT
// What is divided, and what came of it.
#pragma once

#include "cli/options/options.h"
#include "config/draft.h"

struct model {
    const struct options *options;
    struct draft draft;
    uint32_t parts;
};

struct divided {
    json_t *scenario;         // owned; NULL with errors
    char *text;               // sentences for the user, owned
    double cost_ps, equal_ps; // in closed form, as divided and divided equally
};

/* The kinds of models: fill *d. Errors are added to `err`. */

// A graph of operators, which becomes a program.
void divide_operators(const struct model *m, struct divided *d, struct err *err);
