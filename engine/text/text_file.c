// SPDX-License-Identifier: MIT
// Reads lines and splits them into words.
#include "engine/text/text_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/text/json_file.h"

#define BLANKS " \t\r\v\f"

char *text_file_load(const char *dir, const char *name, const char *path, struct err *err)
{
    struct err reading = {0};
    size_t length = 0;
    char *full = path_from(dir, name);
    char *text = file_read(full, &length, &reading);
    if (text == NULL)
        err_add(err, path, "%s", reading.items[0].text);
    else if (strlen(text) != length) {
        err_add(err, path, "%s is not a text file", name);
        free(text);
        text = NULL;
    }
    err_free(&reading);
    free(full);
    return text;
}

char *text_file_next(struct text_file *file)
{
    char *line;
    while ((line = strsep(&file->rest, "\n")) != NULL) {
        file->line++;
        line += strspn(line, BLANKS);
        size_t length = strlen(line);
        while (length > 0 && strchr(BLANKS, line[length - 1]) != NULL)
            line[--length] = '\0';
        if (length > 0)
            return line;
    }
    return NULL;
}

size_t words_cut(char *line, char **words, size_t max)
{
    size_t n = 0;
    char *word;
    while ((word = strsep(&line, BLANKS)) != NULL) {
        if (*word == '\0')
            continue;
        if (n < max)
            words[n] = word;
        n++;
    }
    return n;
}

size_t fields_cut(char *line, char **fields, size_t max)
{
    size_t n = 0;
    for (char *at; (at = strsep(&line, ",")) != NULL; n++) {
        at += strspn(at, BLANKS);
        size_t length = strlen(at);
        while (length > 0 && strchr(BLANKS, at[length - 1]) != NULL)
            at[--length] = '\0';
        if (line == NULL && length == 0)
            break;
        if (n < max)
            fields[n] = at;
    }
    return n;
}

int text_file_error(const struct text_file *file, const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return err_add(file->err, file->path, "%s, line %zu: %s", file->name, file->line, what);
}
