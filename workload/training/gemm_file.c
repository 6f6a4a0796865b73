// SPDX-License-Identifier: MIT
// Reads matrix products from CSV.
#include "workload/training/gemm_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/memory.h"
#include "engine/text/text_file.h"

#define FIELDS 4
#define SIZE_MAX_M 1000000000 // a product of three sizes fits into 90 bits, of two into 60

struct list {
    struct gemm *layers;
    size_t n, cap;
};

// True if the fields are the heading: M, N, K in capitals or small letters.
static bool is_heading(char *const field[FIELDS])
{
    return strcasecmp(field[1], "M") == 0 && strcasecmp(field[2], "N") == 0 &&
           strcasecmp(field[3], "K") == 0;
}

static void line_read(const struct text_file *file, char *line, struct list *list)
{
    char *field[FIELDS];
    uint64_t size[3];
    if (fields_cut(line, field, FIELDS) != FIELDS) {
        text_file_error(file, "is not layer,M,N,K");
        return;
    }
    bool heading = list->n == 0 && is_heading(field);
    for (int i = 0; i < 3 && !heading; i++)
        if (parse_count(field[i + 1], &size[i]) != 0 || size[i] < 1 || size[i] > SIZE_MAX_M) {
            text_file_error(file, "%s is not a size from 1 to %d", field[i + 1], SIZE_MAX_M);
            return;
        }
    if (heading)
        return;
    if (field[0][0] == '\0' || strpbrk(field[0], " \t") != NULL) {
        text_file_error(file, "a layer's name is one word");
        return;
    }
    if (list->n == list->cap)
        list->layers = memory_grow(list->layers, &list->cap, sizeof *list->layers);
    list->layers[list->n++] = (struct gemm){memory_text(field[0]), size[0], size[1], size[2]};
}

void gemms_free(struct gemm *layers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(layers[i].name);
    free(layers);
}

struct gemm *gemm_file_read(const char *name, size_t *n, struct err *err)
{
    struct list list = {0};
    size_t errors = err->n_errors;
    char *text = text_file_load(".", name, name, err), *line;
    struct text_file file = {.name = name, .path = name, .rest = text, .err = err};
    while (text != NULL && (line = text_file_next(&file)) != NULL)
        line_read(&file, line, &list);
    free(text);
    if (err->n_errors == errors && list.n == 0)
        err_add(err, name, "contains no layers");
    if (err->n_errors > errors) {
        gemms_free(list.layers, list.n);
        list = (struct list){0};
    }
    *n = list.n;
    return list.layers;
}
