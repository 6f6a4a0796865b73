// SPDX-License-Identifier: MIT
#include "workload/cnn/cnn_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/units.h"
#include "engine/text/text_file.h"

enum { NAME, KIND, CHANNELS, FILTERS, WIDTH, HEIGHT, DEPTH, KERNEL, STRIDE, FIELDS };
#define LAYERS_MAX 100000
#define SIZE_MOST 1000000

static void read_layer(const struct text_file *file, char *const field[FIELDS], struct cnn_model *m)
{
    uint64_t size[FIELDS];
    unsigned kind = 0;
    while (cnn_layer_kinds[kind] != NULL && strcasecmp(field[KIND], cnn_layer_kinds[kind]) != 0)
        kind++;
    if (cnn_layer_kinds[kind] == NULL) {
        text_file_error(file, "%.40s is none of conv, pool, fc", field[KIND]);
        return;
    }
    for (unsigned i = CHANNELS; i < FIELDS; i++)
        if (parse_count(field[i], &size[i]) != 0 || size[i] < 1 || size[i] > SIZE_MOST) {
            text_file_error(file, "%.40s is not a size from 1 to %d", field[i], SIZE_MOST);
            return;
        }
    if (field[NAME][0] == '\0' || strlen(field[NAME]) >= CNN_NAME ||
        strpbrk(field[NAME], " \t") != NULL) {
        text_file_error(file, "a layer's name is one word of at most %d bytes", CNN_NAME - 1);
        return;
    }
    if (m->n == LAYERS_MAX) {
        text_file_error(file, "there are more than %d layers", LAYERS_MAX);
        return;
    }
    struct cnn_layer *l = cnn_model_add(m);
    strcpy(l->name, field[NAME]);
    l->kind = (uint8_t)kind;
    l->channels = (uint32_t)size[CHANNELS];
    l->filters = (uint32_t)size[FILTERS];
    for (unsigned a = 0; a < CNN_AXES; a++) {
        uint64_t in = size[WIDTH + a];
        bool flat = in == 1 || kind == CNN_CONNECTED;
        l->in[a] = (uint32_t)in;
        l->kernel[a] = flat ? 1 : (uint32_t)size[KERNEL];
        l->out[a] = flat ? 1 : (uint32_t)((in + size[STRIDE] - 1) / size[STRIDE]);
    }
    l->extra = kind == CNN_POOL ? 0 : l->filters;
}

// The layers must fit together: each takes the channels that the one before it makes.
static void check_chain(const struct text_file *file, const struct cnn_model *m)
{
    for (uint32_t i = 1; i < m->n; i++)
        if (m->layers[i].channels != m->layers[i - 1].filters &&
            strstr(m->layers[i].name, "shortcut") == NULL) {
            err_add(file->err, file->path, "%s: layer %s takes %u channels, but %s makes %u",
                    file->name, m->layers[i].name, m->layers[i].channels, m->layers[i - 1].name,
                    m->layers[i - 1].filters);
            return;
        }
}

int cnn_file_read(const char *dir, const char *name, const char *path, struct cnn_model *m,
                  struct err *err)
{
    size_t errors = err->n_errors;
    char *text = text_file_load(dir, name, path, err), *line, *field[FIELDS];
    struct text_file file = {.name = name, .path = path, .rest = text, .err = err};
    *m = (struct cnn_model){0};
    while (text != NULL && (line = text_file_next(&file)) != NULL) {
        if (line[0] == '#')
            continue;
        if (fields_cut(line, field, FIELDS) != FIELDS)
            text_file_error(&file, "is not name,kind,channels,filters,width,height,depth,kernel,"
                                   "stride");
        else if (m->n > 0 || strcasecmp(field[KIND], "kind") != 0)
            read_layer(&file, field, m);
    }
    if (err->n_errors == errors && m->n == 0)
        err_add(err, path, "%s contains no layers", name);
    if (err->n_errors == errors)
        check_chain(&file, m);
    free(text);
    return err->n_errors > errors ? -1 : 0;
}
