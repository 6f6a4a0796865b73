// SPDX-License-Identifier: MIT
#include "cli/options/option_take.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int option_set(struct options *o, char *text)
{
    char *equals = strchr(text, '=');
    if (!equals || equals == text) {
        fprintf(stderr, "collwire: --set: \"%s\" is not PATH=VALUE\n", text);
        return -1;
    }
    *equals = '\0';
    options_set(o, text, equals + 1);
    return 0;
}

int option_seed(struct options *o, char *text)
{
    options_set(o, "seed", text);
    return 0;
}

int option_compute_scale(struct options *o, char *text)
{
    char *end;
    o->compute_scale = strtod(text, &end);
    if (end != text && *end == '\0' && o->compute_scale >= 0 && o->compute_scale <= 1e6)
        return 0;
    fprintf(stderr, "collwire: --compute-scale: \"%s\" is not a number from 0 to 1000000\n", text);
    return -1;
}

int option_gap(struct options *o, char *text)
{
    if (parse_time(text, &o->gap_ps) == 0 && o->gap_ps >= PS_PER_NS)
        return 0;
    fprintf(stderr, "collwire: --gap: \"%s\" is not a time from 1ns, such as 1ms\n", text);
    return -1;
}

static int bad_pace(const char *text)
{
    fprintf(stderr, "collwire: --pace: \"%s\" is not TIME/TIME, as in 1ms/s\n", text);
    return -1;
}

// Simulated time per wall time; a unit alone is one of it.
int option_pace(struct options *o, char *text)
{
    char *slash = strchr(text, '/'), wall[32];
    ps_t simulated_ps, wall_ps;
    if (!slash)
        return bad_pace(text);
    int n = snprintf(wall, sizeof wall, "%s%s", slash[1] >= '0' && slash[1] <= '9' ? "" : "1",
                     slash + 1);
    *slash = '\0';
    bool good = n < (int)sizeof wall && parse_time(text, &simulated_ps) == 0 &&
                parse_time(wall, &wall_ps) == 0 && simulated_ps > 0 && wall_ps > 0;
    *slash = '/';
    if (!good)
        return bad_pace(text);
    o->pace_ps = (double)simulated_ps * (double)PS_PER_S / (double)wall_ps;
    return 0;
}
