// SPDX-License-Identifier: MIT
// Left out: ports, and the time that a flow would take alone, which is computed here. Priority
// groups are not read: a list of flows has one class (`workload.class`), with a warning where a
// file has several.
// Source: alibaba-edu/High-Precision-Congestion-Control, simulation/mix/flow.txt and
// simulation/scratch/third.cc (addresses and the columns of fct.txt);
// conweave-project/conweave-ns3.
#include "workload/read/ns3_flows.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

#define ERRORS_MAX 20
#define BLANKS " \t\r"
enum { LIST_WORDS = 6, FCT_WORDS = 8 };

struct line {
    uint64_t src, dst, group, port, bytes;
    ps_t start, time, alone;
};

#define FIELD(name) offsetof(struct line, name)
#define COLUMN(unit_, ...)                                                                         \
    {                                                                                              \
        .row = PARAM_ROW(__VA_ARGS__), .unit = (unit_)                                             \
    }
#define RANK .max = "4294967295"
#define BYTES_FROM_1 .min = "1", .max = "1000000000000000"
static const struct text_column listed[LIST_WORDS] = {
    COLUMN(NULL, "source", COUNT, FIELD(src), RANK),
    COLUMN(NULL, "destination", COUNT, FIELD(dst), RANK),
    COLUMN(NULL, "priority group", COUNT, FIELD(group), .max = "7"),
    COLUMN(NULL, "port", COUNT, FIELD(port), .max = "65535"),
    COLUMN(NULL, "bytes", COUNT, FIELD(bytes), BYTES_FROM_1),
    COLUMN("s", "start in seconds", TIME, FIELD(start), .max = "100000s"),
};
static const struct text_column finished[FCT_WORDS] = {
    COLUMN(NULL, "source", COUNT, FIELD(src), RANK),
    COLUMN(NULL, "destination", COUNT, FIELD(dst), RANK),
    COLUMN(NULL, "source port", COUNT, FIELD(port), .max = "65535"),
    COLUMN(NULL, "destination port", COUNT, FIELD(port), .max = "65535"),
    COLUMN(NULL, "bytes", COUNT, FIELD(bytes), BYTES_FROM_1),
    COLUMN("ns", "start in ns", TIME, FIELD(start), .max = "100000s"),
    COLUMN("ns", "time in ns", TIME, FIELD(time), .max = "100000s"),
    COLUMN("ns", "time alone in ns", TIME, FIELD(alone), .max = "100000s"),
};

/* ---- recognition ---- */

// Count the words of the line at `text`; false if it has a comma, or begins as no number does.
static bool count_words(const char *text, size_t *n)
{
    const char *end = text + strcspn(text, "\n"), *at = text + strspn(text, BLANKS);
    bool number = isxdigit((unsigned char)*at) != 0;
    for (*n = 0; at < end; at += strspn(at, BLANKS), ++*n)
        at += strcspn(at, BLANKS "\n");
    return number && memchr(text, ',', (size_t)(end - text)) == NULL;
}

bool ns3_flows_is(const char *text)
{
    size_t first, second;
    text += strspn(text, BLANKS "\n");
    if (!count_words(text, &first))
        return false;
    if (first == FCT_WORDS)
        return true;
    text += strcspn(text, "\n");
    text += strspn(text, BLANKS "\n");
    return first == 1 && count_words(text, &second) &&
           (second == LIST_WORDS || second == LIST_WORDS - 1);
}

/* ---- lines ---- */

struct list {
    struct raw_flow *flows;
    size_t n, cap;
    uint64_t groups; // priority groups, as bits
};

static void add(struct list *list, const struct line *line)
{
    if (list->n == list->cap)
        list->flows = memory_grow(list->flows, &list->cap, sizeof *list->flows);
    list->flows[list->n++] = (struct raw_flow){.src = (uint32_t)line->src,
                                               .dst = (uint32_t)line->dst,
                                               .bytes = line->bytes,
                                               .start_ps = line->start,
                                               .measured_ps = line->time};
    list->groups |= UINT64_C(1) << line->group;
}

static void read_listed(const struct text_file *file, char *line, struct list *list)
{
    char *words[LIST_WORDS], port[] = "0";
    struct line flow = {0};
    size_t n = words_cut(line, words, LIST_WORDS);
    if (n == LIST_WORDS - 1) {
        words[5] = words[4];
        words[4] = words[3];
        words[3] = port;
    } else if (n != LIST_WORDS) {
        text_file_error(file, "a flow is \"SRC DST PRIORITY [PORT] BYTES START\", not %zu words",
                        n);
        return;
    }
    if (text_file_columns(file, words, listed, LIST_WORDS, &flow) == 0)
        add(list, &flow);
}

// Addresses are 11.X.Y.1 in eight hexadecimal digits, X * 256 + Y being the id.
static bool address_id(const char *word, char id[16])
{
    char *end;
    unsigned long address = strtoul(word, &end, 16);
    if (strlen(word) != 8 || *end != '\0' || address >> 24 != 0x0b || (address & 0xff) != 1)
        return false;
    snprintf(id, 16, "%lu", address >> 8 & 0xffff);
    return true;
}

static void read_finished(const struct text_file *file, char *line, struct list *list)
{
    char *words[FCT_WORDS], ids[2][16];
    struct line flow = {0};
    size_t n = words_cut(line, words, FCT_WORDS);
    if (n != FCT_WORDS) {
        text_file_error(file, "a flow that ended is \"SRC DST SPORT DPORT BYTES START FCT ALONE\"");
        return;
    }
    for (int i = 0; i < 2; i++)
        if (address_id(words[i], ids[i]))
            words[i] = ids[i];
    if (text_file_columns(file, words, finished, FCT_WORDS, &flow) == 0)
        add(list, &flow);
}

/* ---- the file ---- */

// Read the number of flows, and as many.
static void read_list(struct text_file *file, struct list *list, char *line)
{
    uint64_t declared = 0;
    size_t errors = file->err->n_errors;
    if (parse_count(line, &declared) != 0 || declared == 0) {
        text_file_error(file, "\"%.40s\" is not a number of flows", line);
        return;
    }
    while (list->n < declared && file->err->n_errors < errors + ERRORS_MAX &&
           (line = text_file_next(file)) != NULL)
        read_listed(file, line, list);
    if (file->err->n_errors > errors)
        return;
    if (list->n < declared)
        text_file_error(file, "%" PRIu64 " flows are announced, and %zu follow", declared, list->n);
    else if (text_file_next(file) != NULL)
        err_warn(file->err, file->path,
                 "%s, line %zu: what follows the %" PRIu64 " flows that line 1 announces is not "
                 "read, as ns-3 does not",
                 file->name, file->line, declared);
    if ((list->groups & (list->groups - 1)) != 0)
        err_warn(file->err, file->path,
                 "%s has several priority groups: all flows go in the class of the job (`class`)",
                 file->name);
}

struct raw_flow *ns3_flows_read(struct text_file *file, size_t *n)
{
    struct list list = {0};
    size_t errors = file->err->n_errors, first = 0;
    char *line = text_file_next(file);
    if (line != NULL && count_words(line, &first) && first == FCT_WORDS)
        for (; line != NULL && file->err->n_errors < errors + ERRORS_MAX;
             line = text_file_next(file))
            read_finished(file, line, &list);
    else if (line != NULL)
        read_list(file, &list, line);
    *n = file->err->n_errors == errors ? list.n : 0;
    if (*n > 0)
        return list.flows;
    free(list.flows);
    return NULL;
}
