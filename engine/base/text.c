// SPDX-License-Identifier: MIT
// Streams into memory. Unlike open_memstream() they survive an allocation that fails once.
#define _GNU_SOURCE // fopencookie

#include "engine/base/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

static ssize_t append(void *cookie, const char *bytes, size_t n)
{
    struct text *t = cookie;
    if (t->n + n + 1 > t->cap) {
        t->cap = 2 * (t->n + n + 1);
        t->bytes = memory_resize(t->bytes, t->cap, 1);
    }
    memcpy(t->bytes + t->n, bytes, n);
    t->n += n;
    t->bytes[t->n] = '\0';
    return (ssize_t)n;
}

FILE *text_open(struct text *t)
{
    static const cookie_io_functions_t functions = {.write = append};
    FILE *stream;
    *t = (struct text){.bytes = memory_zeroed(64, 1), .cap = 64};
    while ((stream = fopencookie(t, "w", functions)) == NULL)
        memory_short(sizeof *stream);
    return stream;
}

char *text_close(FILE *stream, struct text *t)
{
    fclose(stream);
    return t->bytes;
}

char *text_format(const char *format, ...)
{
    struct text t;
    va_list args;
    FILE *out = text_open(&t);
    va_start(args, format);
    vfprintf(out, format, args);
    va_end(args);
    return text_close(out, &t);
}

// The length of the part of `text` before `separator` or the end.
static size_t part_length(const char *text, char separator)
{
    int depth = 0;
    bool quoted = false;
    size_t i = 0;
    for (; text[i] != '\0'; i++) {
        if (text[i] == '\\' && quoted && text[i + 1] != '\0')
            i++;
        else if (text[i] == '"')
            quoted = !quoted;
        else if (!quoted && strchr("{[(", text[i]))
            depth++;
        else if (!quoted && strchr("}])", text[i]))
            depth--;
        else if (!quoted && depth <= 0 && text[i] == separator)
            break;
    }
    return i;
}

size_t text_split(const char *text, char separator, char ***parts)
{
    size_t n = 0;
    *parts = NULL;
    for (;;) {
        size_t length = part_length(text, separator);
        *parts = memory_resize(*parts, n + 1, sizeof **parts);
        (*parts)[n++] = text_format("%.*s", (int)length, text);
        text += length;
        if (*text == '\0')
            return n;
        text++;
    }
}

void texts_free(char **parts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(parts[i]);
    free(parts);
}

void text_hex(const uint8_t *bytes, size_t n, char *hex)
{
    hex[0] = '\0';
    for (size_t i = 0; i < n; i++)
        snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
}
