// SPDX-License-Identifier: MIT
// Skips the records of messages in the text, by the lines that begin and end the list. A line feed
// inside of a string is escaped in JSON, so these lines are not found elsewhere.
#include "report/metrics_brief.h"

#include <string.h>

struct pieces {
    const char *at, *end; // what is read now
    const char *rest;     // what follows; NULL = nothing
};

static size_t next_piece(void *buffer, size_t room, void *data)
{
    struct pieces *p = data;
    if (p->at == p->end && p->rest) {
        p->at = p->rest;
        p->end = p->rest + strlen(p->rest);
        p->rest = NULL;
    }
    size_t left = (size_t)(p->end - p->at), n = left < room ? left : room;
    memcpy(buffer, p->at, n);
    p->at += n;
    return n;
}

json_t *metrics_brief(const char *text)
{
    static const char begin[] = "\n \"flows\": [\n  {", next[] = "\n  },\n  {", end[] = "\n ],\n";
    const char *flows = strstr(text, begin);
    const char *second = flows ? strstr(flows, next) : NULL;
    const char *after = flows ? strstr(flows, end) : NULL;
    if (!second || !after || second > after || strstr(after, "\n \"measured\": {"))
        return json_loads(text, 0, NULL);
    struct pieces pieces = {.at = text, .end = second + strlen("\n  }"), .rest = after};
    return json_load_callback(next_piece, &pieces, 0, NULL);
}
