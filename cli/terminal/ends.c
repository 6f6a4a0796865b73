// SPDX-License-Identifier: MIT
// A command runs its pool through ends_pool(), which notes a signal; main() takes the exit code of
// ends_code(). No command has code of its own for an interruption.
#include "cli/terminal/ends.h"

#include <stdio.h>

#include "cli/terminal/exit_codes.h"
#include "cli/terminal/signals.h"
#include "report/study/worker_pool.h"

static bool interrupted;
static const char *said = "nothing was written";

int ends_pool(const struct pool_ops *ops, size_t n, size_t jobs)
{
    int number = pool_run(ops, n, jobs);
    bool stopped = ops->stop != NULL && *ops->stop; // by the command itself, after an error
    interrupted = interrupted || (number != 0 && !stopped);
    return number;
}

void ends_note(void) { interrupted = true; }

bool ends_interrupted(void) { return interrupted; }

void ends_say(const char *kept) { said = kept; }

int ends_code(int code)
{
    if (!interrupted)
        return code;
    if (!signals_are_quiet())
        fprintf(stderr, "collwire: interrupted: %s\n", said);
    return EXIT_INTERRUPTED;
}
