// SPDX-License-Identifier: MIT
// Reads lines and splits them into words.
#include "engine/text/text_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

char *text_file_word(struct text_file *file)
{
    do {
        for (char *word; (word = strsep(&file->words, BLANKS)) != NULL;)
            if (*word != '\0')
                return word;
    } while ((file->words = text_file_next(file)) != NULL);
    return NULL;
}

struct param text_file_row(const struct param *rows, size_t n, const char *word)
{
    struct param_walk walk = params_walk(rows, n);
    for (const struct param *row; (row = params_next(&walk)) != NULL;)
        if (strcasecmp(row->name, word) == 0)
            return *row;
    return (struct param){0};
}

int text_file_value(const struct text_file *file, const struct param *row, void *base,
                    const char *word, const char *unit)
{
    struct err reading = {0};
    char text[64];
    if (strlen(word) > 40) // no number is as long, and a part of one would be another number
        return text_file_error(file, "%s: \"%.40s..\" is too long", row->name, word);
    snprintf(text, sizeof text, "%s%.10s", word, unit);
    int status = param_set(row, base, text, row->name, &reading);
    if (status != 0)
        text_file_error(file, "%s", reading.items[0].text);
    err_free(&reading);
    return status;
}

int text_file_columns(const struct text_file *file, char *const *words,
                      const struct text_column *columns, size_t n, void *base)
{
    for (size_t i = 0; i < n; i++)
        if (text_file_value(file, &columns[i].row, base, words[i],
                            columns[i].unit != NULL ? columns[i].unit : "") != 0)
            return -1;
    return 0;
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
