// SPDX-License-Identifier: MIT
// Finds the kind of the values on an axis, and writes them by it.
#include "cli/sweep/axis_kind.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"
#include "report/csv.h"

static bool is_number(const char *text)
{
    char *end;
    return *text != '\0' && strspn(text, "0123456789.+-eE") == strlen(text) &&
           isfinite(strtod(text, &end)) && *end == '\0';
}

static bool is_kind(enum axis_kind kind, const char *text)
{
    uint64_t number;
    ps_t time;
    if (strcmp(text, "0") == 0)
        return true; // of any kind
    return kind == AXIS_NUMBER  ? is_number(text)
           : kind == AXIS_BYTES ? parse_bytes(text, &number) == 0
           : kind == AXIS_TIME  ? parse_time(text, &time) == 0
                                : parse_rate(text, &number) == 0;
}

void axis_kinds_add(struct axis_kinds *k, const char *value)
{
    if (*value == '\0')
        return;
    k->any = true;
    for (enum axis_kind kind = AXIS_NUMBER; kind < AXIS_TEXT; kind++)
        k->misfits[kind] |= !is_kind(kind, value);
}

enum axis_kind axis_kind_of(const struct axis_kinds *k)
{
    enum axis_kind kind = AXIS_NUMBER;
    while (kind < AXIS_TEXT && (!k->any || k->misfits[kind]))
        kind++;
    return kind;
}

const char *axis_unit(enum axis_kind kind)
{
    static const char *const units[] = {"", "bytes", "ns", "bps", ""};
    return units[kind];
}

void axis_value_put(FILE *out, enum axis_kind kind, const char *value)
{
    uint64_t number = 0;
    ps_t time = 0;
    if (kind == AXIS_TEXT)
        csv_text(out, value);
    else if (kind == AXIS_NUMBER || strcmp(value, "0") == 0)
        fputs(value, out);
    else if (kind == AXIS_TIME && parse_time(value, &time) == 0)
        fprintf(out, time % PS_PER_NS == 0 ? "%.0f" : "%.3f", (double)time / (double)PS_PER_NS);
    else if ((kind == AXIS_BYTES ? parse_bytes(value, &number) : parse_rate(value, &number)) == 0)
        fprintf(out, "%llu", (unsigned long long)number);
}

char *axis_value_text(enum axis_kind kind, const char *value)
{
    char text[UNIT_TEXT];
    uint64_t bytes;
    if (kind == AXIS_BYTES && parse_bytes(value, &bytes) == 0)
        return memory_text(format_bytes(bytes, text));
    return memory_text(value);
}
