// SPDX-License-Identifier: MIT
// Reads JSON files; refuses folders, files that are not JSON and files that do not fit into memory.
#include "engine/text/json_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/regular_file.h"

#define FILE_MAX_BYTES ((size_t)256 << 20)

static const char *file_name(const char *path) { return strcmp(path, "-") == 0 ? "stdin" : path; }

// Bytes that a regular file will need, with one beyond the limit for a larger one; of a pipe a
// guess, which grows.
static size_t room_for(FILE *stream)
{
    long long size = regular_file_bytes(stream);
    if (size < 0)
        return 65536;
    return (size_t)size > FILE_MAX_BYTES ? 0 : (size_t)size + 2;
}

static char *stream_read(FILE *stream, const char *name, size_t *length, struct err *err)
{
    size_t cap = room_for(stream), used = 0, got;
    char *text = NULL;
    if (cap == 0) {
        err_add(err, name, "is larger than 256 MiB");
        return NULL;
    }
    text = memory_resize(text, cap, 1);
    do {
        if (used + 1 >= cap) {
            cap = cap < FILE_MAX_BYTES / 2 ? 2 * cap : FILE_MAX_BYTES + 2;
            text = memory_resize(text, cap, 1);
        }
        got = fread(text + used, 1, cap - used - 1, stream);
        used += got;
    } while (got > 0 && used <= FILE_MAX_BYTES);
    if (ferror(stream))
        err_add(err, name, "cannot be read: %s", strerror(errno));
    else if (used > FILE_MAX_BYTES)
        err_add(err, name, "is larger than 256 MiB");
    else {
        text[used] = '\0';
        *length = used;
        return text;
    }
    free(text);
    return NULL;
}

char *path_from(const char *dir, const char *file)
{
    size_t room = strlen(dir) + strlen(file) + 2;
    char *path = memory_zeroed(room, 1);
    snprintf(path, room, "%s%s%s", file[0] == '/' ? "" : dir, file[0] == '/' ? "" : "/", file);
    return path;
}

char *file_read(const char *path, size_t *length, struct err *err)
{
    if (strcmp(path, "-") == 0)
        return stream_read(stdin, file_name(path), length, err);
    const char *why;
    FILE *stream = regular_file_stream(path, &why);
    if (stream == NULL) {
        err_add(err, path, "cannot be opened: %s", why);
        return NULL;
    }
    char *text = stream_read(stream, path, length, err);
    fclose(stream);
    return text;
}

static json_t *parse(const char *text, size_t length, const char *name, struct err *err)
{
    static const char mark[] = "\xef\xbb\xbf";
    json_error_t at;
    if (length >= 3 && memcmp(text, mark, 3) == 0) {
        err_add(err, name,
                "begins with a byte order mark, which JSON does not have: save it as UTF-8 "
                "without BOM");
        return NULL;
    }
    json_t *json = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &at);
    if (json == NULL)
        err_add(err, name, "line %d, column %d: not JSON: %s", at.line, at.column, at.text);
    return json;
}

json_t *json_text_read(const char *text, const char *name, struct err *err)
{
    return parse(text, strlen(text), name, err);
}

json_t *json_file_read(const char *path, struct err *err)
{
    size_t length = 0;
    char *text = file_read(path, &length, err);
    json_t *json = text ? parse(text, length, file_name(path), err) : NULL;
    free(text);
    return json;
}
