// SPDX-License-Identifier: MIT
// Imports that are one file: a scenario which names or contains files of others.
#pragma once

#include "cli/import/kinds.h"
#include "cli/import/notes.h"
#include "cli/options/options.h"
#include "config/import_astra.h"
#include "config/import_chakra.h"

// Each makes the scenario, checks it, writes o->file or stdout, and prints what it is and the
// notes; with --strict, assumptions among the notes are errors. Returns the exit code.
int astra_import_files(const struct options *o, const struct astra_import *from,
                       struct notes *notes);
int chakra_import_files(const struct options *o, const struct chakra_import *from,
                        struct notes *notes);
int file_job_import(const struct options *o, const struct file_kind *kind, const char *file,
                    const char *network, struct notes *notes); // network: NULL = a default
// Traces of `ranks` ranks without a network and system of ASTRA-sim 2; from->network may name a
// scenario.
int traces_import(const struct options *o, const struct chakra_import *from, uint32_t ranks,
                  struct notes *notes);
