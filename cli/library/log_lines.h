// SPDX-License-Identifier: MIT
// The lines of NCCL's log, one by one.
#pragma once

#include <stdbool.h>

#include "cli/library/nccl_log.h"

#define LOG_WORD 256 // bytes of a name or a value

// Return the text of a line after "NCCL INFO", or all of it. Write who printed it, "host:pid:tid
// [gpu]" or "", to `key`.
const char *log_message(const char *line, char key[LOG_WORD]);

// Lines that are not about a single fact. Each returns false where the line is another one.
bool log_communicator(const char *message, int32_t *ranks, int32_t *nodes);
// The begin or the end of an initialisation, which tells the ranks and, before 2.19, alone does so.
bool log_init(const char *message, int32_t *ranks, bool *complete);
bool log_version(const char *message, char version[LOG_WORD]);
bool log_variable(const char *message, char name[LOG_WORD], char value[LOG_WORD]);
bool log_tuner(const char *message); // a plugin that chooses was loaded

// The algorithms of the part of the table of costs that is being read.
struct cost_block {
    int32_t algorithms[8];
    uint32_t n;
};

// Pass the facts of a line to `add`, as copies of `base`.
void log_facts(const char *message, const struct fact *base, struct cost_block *block,
               void (*add)(void *ctx, const struct fact *fact), void *ctx);
