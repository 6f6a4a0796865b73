// SPDX-License-Identifier: MIT
// The list of user errors, and the suggestion for a misspelt word.
#include "engine/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

// Returns "path: message" on the heap, or NULL if the format is invalid.
__attribute__((format(printf, 2, 0))) static char *text_format(const char *path, const char *format,
                                                               va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0)
        return NULL;

    size_t prefix = path != NULL && path[0] != '\0' ? strlen(path) + 2 : 0;
    char *text = memory_zeroed(prefix + (size_t)length + 1, 1);
    if (prefix > 0)
        snprintf(text, prefix + 1, "%s: ", path);
    vsnprintf(text + prefix, (size_t)length + 1, format, args);
    return text;
}

// Append `text`, taking ownership of it.
static void item_add(struct err *err, char *text, bool warning)
{
    if (text == NULL)
        return;
    if (err->n_items == err->cap)
        err->items = memory_grow(err->items, &err->cap, sizeof *err->items);
    err->items[err->n_items++] = (struct err_item){text, warning};
}

int err_add(struct err *err, const char *path, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    item_add(err, text_format(path, format, args), false);
    va_end(args);
    err->n_errors++;
    return -1;
}

void err_warn(struct err *err, const char *path, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    item_add(err, text_format(path, format, args), true);
    va_end(args);
}

void err_add_all(struct err *err, const char *path, const struct err *own)
{
    size_t length = path != NULL ? strlen(path) : 0;
    for (size_t i = 0; i < own->n_items; i++) {
        const struct err_item *item = &own->items[i];
        bool named = path != NULL && strncmp(item->text, path, length) == 0 &&
                     strncmp(item->text + length, ": ", 2) == 0;
        if (item->warning)
            err_warn(err, named ? NULL : path, "%s", item->text);
        else
            err_add(err, named ? NULL : path, "%s", item->text);
    }
}

void err_withdraw(struct err *err, const char *path, const char *words)
{
    size_t n = 0, length = strlen(path);
    for (size_t i = 0; i < err->n_items; i++) {
        struct err_item item = err->items[i];
        if (!item.warning && strncmp(item.text, path, length) == 0 &&
            strncmp(item.text + length, ": ", 2) == 0 &&
            strncmp(item.text + length + 2, words, strlen(words)) == 0) {
            free(item.text);
            err->n_errors--;
        } else {
            err->items[n++] = item;
        }
    }
    err->n_items = n;
}

bool err_below(const struct err *err, const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < err->n_items; i++) {
        const char *text = err->items[i].text;
        if (!err->items[i].warning && strncmp(text, path, length) == 0 &&
            strchr(":.[", text[length]) != NULL)
            return true;
    }
    return false;
}

void err_drop_warnings(struct err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < err->n_items; i++) {
        if (err->items[i].warning)
            free(err->items[i].text);
        else
            err->items[n++] = err->items[i];
    }
    err->n_items = n;
}

void err_free(struct err *err)
{
    for (size_t i = 0; i < err->n_items; i++)
        free(err->items[i].text);
    free(err->items);
    *err = (struct err){0};
}

#define WORD_MAX 63 // longer words get no suggestion

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// Damerau-Levenshtein distance (optimal string alignment) of two words of at most WORD_MAX letters:
// insertions, deletions, substitutions and swaps of neighbours.
static size_t word_distance(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1], n = strlen(b);
    size_t *before = rows[0], *above = rows[1], *row = rows[2]; // rows i - 2, i - 1 and i of the
                                                                // distance matrix
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = smaller(change, smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
    }
    return row[n];
}

const char *err_near_miss(const char *word, const char *const *candidates)
{
    size_t length = strlen(word);
    if (length > WORD_MAX)
        return NULL;

    // Up to a third of the letters may be wrong, but never the whole word.
    size_t limit = length / 3 > 1 ? length / 3 : 1;
    const char *nearest = NULL;
    for (; *candidates != NULL; candidates++) {
        if (strlen(*candidates) > WORD_MAX)
            continue;
        size_t distance = word_distance(word, *candidates);
        if (distance <= limit && distance < length) {
            nearest = *candidates;
            limit = distance > 0 ? distance - 1 : 0;
            if (distance == 0)
                break;
        }
    }
    return nearest;
}
