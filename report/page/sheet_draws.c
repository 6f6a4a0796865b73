// SPDX-License-Identifier: MIT
// The data of the chart of assumptions: each ratio with the lower and with the higher values.
#include <string.h>

#include "report/page/sheet.h"

static void axis_rows(struct sheet *s, const json_t *axis)
{
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(axis, "rows"), i, row)
    {
        const char *name = json_string_value(json_object_get(row, "name"));
        if (s->choice && strcmp(s->choice, name) != 0)
            continue;
        sheet_row(s);
        sheet_values(s, axis, "scenario");
        sheet_text(s, name);
        sheet_values(s, axis, "name path");
        sheet_values(s, row, "low high moves");
        sheet_text(s, json_is_true(json_object_get(row, "clear")) ? "yes" : "no");
    }
}

void sheet_draws(struct sheet *s)
{
    const json_t *axis;
    size_t i;
    fputs("scenario,policy,assumption,path,low,high,moves,clear", s->out);
    json_array_foreach(sheet_at(s->doc, "comparison.assumptions"), i, axis) axis_rows(s, axis);
}
