// SPDX-License-Identifier: MIT
// Shared by the files of this folder.
#pragma once

#include "cli/processes/process_group.h"
#include "engine/processes/module.h"

// Every process sends a text to every other one. theirs[q] is the text of process q, of `n[q]`
// bytes and a zero byte, to be freed by the caller. Returns 0, or -1 if a process does not answer.
int processes_tell(const void *mine, size_t n_mine, char **theirs, size_t *n);

// The other half of processes_agree(): `mine` NULL = this process has failed with exit code `code`.
// Returns the exit code of all: EXIT_DONE if all can run.
int agreement_reach(const struct collwire_processes *all, const struct processes_settings *mine,
                    int code);

// The name of the machine of a process, as it told in the agreement; "" before.
const char *agreement_host(uint32_t process);
