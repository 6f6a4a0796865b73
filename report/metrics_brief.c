// SPDX-License-Identifier: MIT
// Skips the records of a list in the text, by the lines that begin and end the list. A line feed
// inside of a string is escaped in JSON, so these lines are not found elsewhere.
#include "report/metrics_brief.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const lists[] = {"flows", "ranks", "links"}; // in their order in the file
enum { LISTS = sizeof lists / sizeof *lists };

// The parts of the text that are read.
struct pieces {
    struct piece {
        const char *at, *end;
    } list[LISTS + 1];
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
