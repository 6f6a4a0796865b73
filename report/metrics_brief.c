// SPDX-License-Identifier: MIT
// Skips the records of a list in the text, by the lines that begin and end the list. A line feed
// inside of a string is escaped in JSON, so these lines are not found elsewhere.
#include "report/metrics_brief.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/text.h"

static const char *const lists[] = {"flows", "ranks", "links"}; // in their order in the file
enum { LISTS = sizeof lists / sizeof *lists };

struct piece {
    const char *at, *end;
};

// The parts of the text that are read.
struct pieces {
    struct piece list[LISTS + 1];
    size_t n, now;
};

static size_t next_piece(void *buffer, size_t room, void *data)
{
    struct pieces *p = data;
    while (p->now < p->n && p->list[p->now].at == p->list[p->now].end)
        p->now++;
    if (p->now == p->n)
        return 0;
    struct piece *piece = &p->list[p->now];
    size_t left = (size_t)(piece->end - piece->at), n = left < room ? left : room;
    memcpy(buffer, piece->at, n);
    piece->at += n;
    return n;
}

// End the last piece after the first record of the list, and begin another one at the list's end.
static void cut(struct pieces *p, const char *list)
{
    char begin[32];
    struct piece *last = &p->list[p->n - 1];
    snprintf(begin, sizeof begin, "\n \"%s\": [\n  {", list);
    const char *from = strstr(last->at, begin);
    const char *second = from ? strstr(from, "\n  },\n  {") : NULL;
    const char *after = from ? strstr(from, "\n ],\n") : NULL;
    // A list with fewer than two records stays as it is: nothing in it can be skipped.
    if (!second || !after || second > after)
        return;
    p->list[p->n++] = (struct piece){after, last->end};
    last->end = second + strlen("\n  }");
}

json_t *metrics_brief(const char *text)
{
    struct pieces pieces = {.list = {{text, text + strlen(text)}}, .n = 1};
    // The report of captured messages lists single flows, so their list must be complete.
    bool measured = strstr(text, "\n \"measured\": {") != NULL;
    // Lists are cut in their order in the file, since each cut shortens the last piece.
    for (size_t i = measured; i < LISTS; i++)
        cut(&pieces, lists[i]);
    return json_load_callback(next_piece, &pieces, 0, NULL);
}

// Print a value as a member of the outermost object, whose members are indented by one space.
static void print_value(FILE *out, const json_t *value)
{
    char *text = json_dumps(value, JSON_INDENT(1) | JSON_ENCODE_ANY | JSON_REAL_PRECISION(10));
    for (const char *at = text; *at; at++) {
        putc(*at, out);
        if (*at == '\n')
            putc(' ', out);
    }
    free(text);
}

// Where the value of a key of the outermost object begins and ends. Returns false if there is none.
static bool find_value(const char *text, const char *key, struct piece *value)
{
    char begin[32];
    int n = snprintf(begin, sizeof begin, "\n \"%s\": ", key);
    const char *from = strstr(text, begin), *next = from ? strstr(from + n, "\n \"") : NULL,
               *last = from ? strstr(from + n, "\n}") : NULL;
    if (!last)
        return false;
    value->at = from + n;
    value->end = next ? next - 1 : last; // before the comma
    return true;
}

char *metrics_replaced(const char *text, const char *const *keys, const json_t *from)
{
    char *now = text_format("%s", text);
    for (; *keys; keys++) {
        struct piece value;
        struct text made;
        if (!find_value(now, *keys, &value)) {
            free(now);
            return NULL;
        }
        FILE *out = text_open(&made);
        fwrite(now, 1, (size_t)(value.at - now), out);
        print_value(out, json_object_get(from, *keys));
        fputs(value.end, out);
        char *next = text_close(out, &made);
        free(now);
        now = next;
    }
    return now;
}
