// SPDX-License-Identifier: MIT
// The kinds of files that `collwire import` knows by their content.
#pragma once

#include "cli/import/content.h"

enum kind_use {
    KIND_RECORDING, // files of one kind are a recording of a run (cli/import/import.h)
    KIND_GRAPHS,    // likewise, and parts of those of kineto where there are any
    KIND_TRACES,    // execution traces, PREFIX.N.et, are a job together
    KIND_JOB,       // a file is a job (cli/import/file_job.h)
    KIND_NETWORK,   // the network of the job beside it, or one with a job by default
    KIND_PART,      // belongs to files of another kind
    KIND_OTHER      // another option or command reads it
};

struct file_kind {
    const char *name; // as --as has it
    const char *what; // "a connection matrix of htsim"
    enum kind_use use;
    bool (*is)(const struct content *c);
    const char *way; // of KIND_PART and KIND_OTHER: what reads the file, a sentence
};

// Ends with a row without a name. The first row that recognises a file has it.
extern const struct file_kind file_kinds[];

// The kind of a file; NULL = not known.
const struct file_kind *kind_of(const struct content *c);

// The kind of a name; NULL = there is none.
const struct file_kind *kind_named(const char *name);
