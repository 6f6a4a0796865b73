// SPDX-License-Identifier: MIT
// CSV of flows: src,dst,bytes,start_ns,measured_ns; times may have a fraction. Both are optional,
// and measured_ns may be empty.
#include "workload/read/flow_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/text/text_file.h"
#include "workload/read/htsim_flows.h"
#include "workload/read/ns3_flows.h"

#define BLANKS " \t\r"
#define FIELDS 5
#define FIELDS_MIN 3
#define ERRORS_MAX 20

static int rank_parse(const char *text, uint32_t *rank)
{
    uint64_t value;
    if (parse_count(text, &value) != 0 || value > UINT32_MAX)
        return -1;
    *rank = (uint32_t)value;
    return 0;
}

static int time_parse(const char *field, ps_t *ps)
{
    char text[64];
    snprintf(text, sizeof text, "%.60sns", field);
    return parse_time(text, ps) == 0 && *ps <= 100000 * PS_PER_S ? 0 : -1;
}

// Parse the fields of a line. Returns NULL, or a description of the error.
static const char *fields_parse(char *field[FIELDS], size_t n, struct raw_flow *flow)
{
    *flow = (struct raw_flow){0};
    if (n < FIELDS_MIN || n > FIELDS)
        return "is not src,dst,bytes,start_ns,measured_ns";
    if (rank_parse(field[0], &flow->src) != 0)
        return "src is not a rank";
    if (rank_parse(field[1], &flow->dst) != 0)
        return "dst is not a rank";
    if (parse_bytes(field[2], &flow->bytes) != 0 || flow->bytes == 0)
        return "bytes is not a size from 1 B to 1 PB";
    if (n > 3 && time_parse(field[3], &flow->start_ps) != 0)
        return "start_ns is not a time in ns up to 100000 s";
    if (n > 4 && field[4][0] != '\0' && time_parse(field[4], &flow->measured_ps) != 0)
        return "measured_ns is not a time in ns up to 100000 s";
    return NULL;
}

// Other than fields_cut() of text_file.h: an empty last column is one, and an error of its own.
static size_t columns_cut(char *line, char *field[FIELDS])
{
    size_t n = 0;
    char *rest = line;
    for (char *at; (at = strsep(&rest, ",")) != NULL; n++) {
        at += strspn(at, BLANKS);
        for (size_t length = strlen(at); length > 0 && strchr(BLANKS, at[length - 1]); length--)
            at[length - 1] = '\0'; // a blank inside a field remains and is an error
        if (n < FIELDS)
            field[n] = at;
    }
    return n;
}

struct list {
    struct raw_flow *flows;
    size_t n, cap;
};

// Read a line; adds at most one error.
static void line_read(const struct text_file *file, char *line, struct list *list)
{
    char *field[FIELDS];
    if (file->line == 1 && strncmp(line, "src", 3) == 0)
        return; // a heading
    if (list->n == list->cap)
        list->flows = memory_grow(list->flows, &list->cap, sizeof *list->flows);
    const char *why = fields_parse(field, columns_cut(line, field), &list->flows[list->n]);
    if (why == NULL)
        list->n++;
    else
        text_file_error(file, "%s", why);
}

struct raw_flow *flow_file_read(const struct flow_file *from, size_t *n, struct err *err)
{
    struct list list = {0};
    size_t errors = err->n_errors;
    char *text = text_file_load(from->dir, from->name, from->path, err), *line;
    struct text_file file = {.name = from->name, .path = from->path, .rest = text, .err = err};
    if (text != NULL && htsim_flows_is(text)) {
        list.flows = htsim_flows_read(&file, from->unit_ps, n);
        free(text);
        return list.flows;
    }
    if (text != NULL && ns3_flows_is(text)) {
        list.flows = ns3_flows_read(&file, n);
        free(text);
        return list.flows;
    }
    while (text != NULL && err->n_errors < errors + ERRORS_MAX &&
           (line = text_file_next(&file)) != NULL)
        line_read(&file, line, &list);
    if (err->n_errors == errors && list.n == 0)
        err_add(err, from->path, "%s contains no flows", from->name);
    free(text);
    *n = err->n_errors == errors ? list.n : 0;
    if (*n > 0)
        return list.flows;
    free(list.flows);
    return NULL;
}
