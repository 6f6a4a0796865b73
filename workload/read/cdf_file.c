// SPDX-License-Identifier: MIT
// Reads a distribution; computes its mean and its quantiles.
#include "workload/read/cdf_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/units.h"
#include "engine/text/text_file.h"

#define BYTES_MAX 1e15 // 1 PB

static int number(const char *word, double *value)
{
    char *end;
    *value = strtod(word, &end);
    return *end == '\0' && end != word && isfinite(*value) ? 0 : -1;
}

#define PACKET_BYTES 1460 // payload of a packet where a file counts packets

// What the columns of a file are.
struct columns {
    size_t n; // of its first line with numbers: 2, or 3 where sizes are packets; 0 = not known yet
    bool headed;
};

// A size: a number of bytes, or with a unit.
static int size(const char *word, double *bytes)
{
    uint64_t whole;
    if (number(word, bytes) == 0)
        return 0;
    if (parse_bytes(word, &whole) != 0)
        return -1;
    *bytes = (double)whole;
    return 0;
}

static void line_read(const struct text_file *file, char *line, struct columns *columns,
                      struct cdf *cdf, size_t *cap)
{
    char *words[4];
    struct cdf_point p;
    const struct cdf_point *last = cdf->n > 0 ? &cdf->points[cdf->n - 1] : NULL;
    if (line[0] == '#')
        return;
    size_t n = words_cut(line, words, 4);
    bool numbers =
        (n == 2 || n == 3) && size(words[0], &p.bytes) == 0 && number(words[n - 1], &p.share) == 0;
    if (!numbers && !last && !columns->headed) {
        columns->headed = true;
        return;
    }
    if (columns->n == 0)
        columns->n = n;
    if (!numbers || n != columns->n) {
        text_file_error(file, "is not a size in bytes and a percentage, a fraction of 1, or three "
                              "columns: packets, a word that is not read, a fraction");
        return;
    }
    if (n == 3)
        p.bytes *= PACKET_BYTES;
    if (p.bytes < 0 || p.bytes > BYTES_MAX || p.share < 0 || p.share > 100)
        text_file_error(file, "a size from 0 to 1e15 bytes and 0 to 100 %% are possible");
    else if (last && (p.bytes < last->bytes || p.share < last->share))
        text_file_error(file, "is below the line before it");
    else if (!last && p.share > 0)
        text_file_error(file, "the first line must have 0 %%");
    if (cdf->n == *cap)
        cdf->points = memory_grow(cdf->points, cap, sizeof *cdf->points);
    cdf->points[cdf->n++] = p;
}

#define NEARLY 0.995 // of the whole, in the last line of a file that was rounded

// Divide the shares by what the last line has: near 1 they are fractions, near 100 per cent.
static bool scale(struct cdf *cdf)
{
    double last = cdf->n > 0 ? cdf->points[cdf->n - 1].share : 0;
    bool fractions = last >= NEARLY && last <= 1, percent = last >= 100 * NEARLY && last <= 100;
    for (size_t i = 0; i < cdf->n && (fractions || percent); i++)
        cdf->points[i].share /= last;
    return fractions || percent;
}

int cdf_file_read(const char *dir, const char *name, const char *path, struct cdf *cdf,
                  struct err *err)
{
    size_t errors = err->n_errors, cap = 0;
    char *text = text_file_load(dir, name, path, err), *line;
    struct text_file file = {.name = name, .path = path, .rest = text, .err = err};
    struct columns columns = {0};
    *cdf = (struct cdf){0};
    while (text != NULL && (line = text_file_next(&file)) != NULL)
        line_read(&file, line, &columns, cdf, &cap);
    if (err->n_errors == errors && (cdf->n < 2 || !scale(cdf)))
        err_add(err, path,
                "%s: the last line must have 100 %%, or 1 where the others are fractions", name);
    else if (err->n_errors == errors && cdf_mean_bytes(cdf) < 1)
        err_add(err, path, "%s: the mean is below a byte", name);
    if (err->n_errors == errors && columns.n == 3)
        err_warn(err, path, "%s has three columns: sizes are read as packets of %d bytes", name,
                 PACKET_BYTES);
    free(text);
    if (err->n_errors == errors)
        return 0;
    cdf_free(cdf);
    return -1;
}

void cdf_free(struct cdf *cdf)
{
    free(cdf->points);
    *cdf = (struct cdf){0};
}

double cdf_mean_bytes(const struct cdf *cdf)
{
    double mean = 0;
    for (size_t i = 1; i < cdf->n; i++)
        mean += (cdf->points[i].share - cdf->points[i - 1].share) *
                (cdf->points[i].bytes + cdf->points[i - 1].bytes) / 2;
    return mean;
}

uint64_t cdf_bytes(const struct cdf *cdf, double u)
{
    // Find the first point beyond `u`, or the last point, by bisection: the points ascend.
    size_t i = 1, end = cdf->n - 1;
    while (i < end) {
        size_t middle = i + (end - i) / 2;
        if (cdf->points[middle].share <= u)
            i = middle + 1;
        else
            end = middle;
    }
    const struct cdf_point *a = &cdf->points[i - 1], *b = &cdf->points[i];
    double rise = b->share - a->share;
    double bytes = rise > 0 ? a->bytes + (b->bytes - a->bytes) * (u - a->share) / rise : b->bytes;
    return bytes < 1 ? 1 : (uint64_t)bytes;
}
