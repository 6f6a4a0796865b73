// SPDX-License-Identifier: MIT
// Prints how many runs have ended and when the rest will.
#include "cli/terminal/pool_progress.h"

#include <stdio.h>

#include "cli/terminal/terminal.h"

void pool_line_show(struct pool_line *line, const struct pool_progress *p)
{
    char elapsed[CLOCK_TEXT], left[CLOCK_TEXT];
    fprintf(stderr, "\r%zu of %zu %s done, %zu running, %s, ETA %s   ", p->done, p->total,
            line->noun, p->running, clock_text(p->elapsed_s, elapsed),
            p->left_s < 0 ? "-" : clock_text(p->left_s, left));
    fflush(stderr);
    line->shown = true;
}

void pool_line_clear(struct pool_line *line)
{
    if (line->shown)
        fputs("\r\033[K", stderr);
    line->shown = false;
}
