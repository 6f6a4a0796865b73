// SPDX-License-Identifier: MIT
// The generation of a trace is known from its metadata, which state a version since October 2023,
// or, where they do not, from the first node that has attributes: the old schema has them in
// field 11, which the new one does not have.
#include "workload/trace/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "workload/trace/decode_internal.h"

void trace_free(struct trace *t)
{
    decode_release(t);
    free(t->after);
    trace_program_free(&t->program);
    record_reader_free(&t->records);
    *t = (struct trace){0};
}

int trace_error(const struct trace *t, const struct trace_node *node, const char *path,
                struct err *err, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const struct record_reader *r = &t->records;
    if (node == NULL)
        return err_add(err, path, "%s: record %llu at byte %lld %s", r->file,
                       (unsigned long long)r->number, (long long)r->start, text);
    return err_add(err, path, "%s: node %llu%s%.60s%s (record %llu at byte %lld): %s", r->file,
                   (unsigned long long)node->id, node->name[0] ? " \"" : "", node->name,
                   node->name[0] ? "\"" : "", (unsigned long long)r->number, (long long)r->start,
                   text);
}

int trace_begin(struct trace *t, const char *path, struct err *err)
{
    if (t->begun)
        return 0;
    const unsigned char *bytes;
    size_t n;
    int result = record_next(&t->records, &bytes, &n, path, err);
    if (result == 0)
        return err_add(err, path, "%s is empty: an execution trace begins with its metadata",
                       t->records.file);
    if (result < 0)
        return -1;
    t->begun = true;
    return decode_metadata(t, bytes, n, path, err);
}

int trace_next(struct trace *t, struct trace_node *node, const char *path, struct err *err)
{
    const unsigned char *bytes;
    size_t n;
    if (trace_begin(t, path, err) != 0)
        return -1;
    int result = record_next(&t->records, &bytes, &n, path, err);
    if (result != 1)
        return result;
    if (n == 0) // all values are their defaults, so it has no kind
        return trace_error(t, NULL, path, err, "is empty: it is no node");
    return decode_node(t, bytes, n, node, path, err) == 0 ? 1 : -1;
}
