// SPDX-License-Identifier: MIT
// Reads axes and counts through their combinations.
#include "report/study/value_grid.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

/* ---- axes ---- */

bool grid_varies(const struct grid *grid, const char *path)
{
    for (size_t p = 0; p < grid_paths(grid); p++)
        if (strcmp(grid_path(grid, p), path) == 0)
            return true;
    return false;
}

static bool varied(const struct grid *grid, const struct axis *axis, const char *path)
{
    if (grid_varies(grid, path))
        return true;
    for (size_t p = 0; p < axis->n_paths; p++)
        if (strcmp(axis->paths[p], path) == 0)
            return true;
    return false;
}

static void axis_free(struct axis *axis)
{
    for (size_t p = 0; p < axis->n_paths; p++) {
        texts_free(axis->values[p], axis->n);
        free(axis->paths[p]);
    }
    free(axis->paths);
    free(axis->values);
}

// Add a path with its values, which the axis owns from here on.
static int axis_add(const struct grid *grid, struct axis *axis, const char *path, char **values,
                    size_t n, struct err *err)
{
    int status = 0;
    if (varied(grid, axis, path))
        status = err_add(err, "--vary", "%s is varied twice", path);
    else if (axis->n_paths > 0 && n != axis->n)
        status =
            err_add(err, "--vary", "%s has %zu values, and %s, which advances with it, has %zu",
                    path, n, axis->paths[0], axis->n);
    if (status != 0) {
        texts_free(values, n);
        return -1;
    }
    axis->paths = memory_resize(axis->paths, axis->n_paths + 1, sizeof *axis->paths);
    axis->values = memory_resize(axis->values, axis->n_paths + 1, sizeof *axis->values);
    axis->paths[axis->n_paths] = memory_text(path);
    axis->values[axis->n_paths++] = values;
    axis->n = n;
    return 0;
}

static int grid_keep(struct grid *grid, struct axis *axis, int status)
{
    if (status != 0) {
        axis_free(axis);
        return -1;
    }
    grid->axes = memory_resize(grid->axes, grid->n_axes + 1, sizeof *grid->axes);
    grid->axes[grid->n_axes++] = *axis;
    return 0;
}

// Read "PATH=v1,v2".
static int list_read(const struct grid *grid, struct axis *axis, const char *text, struct err *err)
{
    const char *equals = strchr(text, '=');
    char **values;
    if (!equals || equals == text)
        return err_add(err, "--vary", "\"%s\" is not PATH=VALUE,VALUE,...", text);
    char *path = text_format("%.*s", (int)(equals - text), text);
    size_t n = text_split(equals + 1, ',', &values);
    int status = 0;
    for (size_t i = 0; i < n && status == 0; i++) {
        if (values[i][0] == '\0')
            status = err_add(err, "--vary", "%s: %s", path,
                             n == 1 ? "the list of values is empty" : "a value is empty");
    }
    if (status == 0)
        status = axis_add(grid, axis, path, values, n, err);
    else
        texts_free(values, n);
    free(path);
    return status;
}

static bool same_values(const struct axis *axis, size_t i, size_t k)
{
    for (size_t p = 0; p < axis->n_paths; p++)
        if (strcmp(axis->values[p][i], axis->values[p][k]) != 0)
            return false;
    return true;
}

// Check an axis: where lists advance together, single values may repeat, but not all at once.
static int axis_check(const struct axis *axis, struct err *err)
{
    for (size_t i = 0; i < axis->n; i++)
        for (size_t k = 0; k < i; k++)
            if (same_values(axis, i, k))
                return err_add(err, "--vary", "%s: the value %s is named twice%s", axis->paths[0],
                               axis->values[0][i],
                               axis->n_paths > 1 ? " with the same other values" : "");
    return 0;
}

int grid_vary(struct grid *grid, const char *text, struct err *err)
{
    struct axis axis = {0};
    char **lists;
    size_t n = text_split(text, ';', &lists);
    int status = 0;
    for (size_t i = 0; i < n && status == 0; i++)
        status = list_read(grid, &axis, lists[i], err);
    if (status == 0)
        status = axis_check(&axis, err);
    texts_free(lists, n);
    return grid_keep(grid, &axis, status);
}

int grid_add(struct grid *grid, const char *path, const char *const *values, size_t n,
             struct err *err)
{
    struct axis axis = {0};
    char **copies = memory_zeroed(n, sizeof *copies);
    for (size_t i = 0; i < n; i++)
        copies[i] = memory_text(values[i]);
    return grid_keep(grid, &axis, axis_add(grid, &axis, path, copies, n, err));
}

// A size of nccl-tests or of a scenario: 8, 1K and 128M are binary as in nccl-tests (1024), 1KB is
// decimal and 1KiB binary as everywhere else.
static int size_parse(const char *text, uint64_t *bytes)
{
    size_t length = strlen(text), digits = strspn(text, "0123456789.");
    if (digits == 0 || digits + 1 < length)
        return parse_bytes(text, bytes);
    char *spelled = digits == length
                        ? text_format("%sB", text)
                        : text_format("%.*s%ciB", (int)digits, text, text[digits] & ~0x20);
    int status = text[length - 1] == 'B' ? parse_bytes(text, bytes) : parse_bytes(spelled, bytes);
    free(spelled);
    return status;
}

int grid_sizes(struct grid *grid, const char *path, const char *text, struct err *err)
{
    char **parts;
    uint64_t from = 0, to = 0, factor = 2;
    size_t n = text_split(text, ':', &parts), count = 0;
    bool good = (n == 2 || n == 3) && size_parse(parts[0], &from) == 0 &&
                size_parse(parts[1], &to) == 0 && (n == 2 || parse_count(parts[2], &factor) == 0);
    texts_free(parts, n);
    if (!good || from == 0 || to < from || factor < 2)
        return err_add(
            err, "--sizes",
            "\"%s\" is not FROM:TO or FROM:TO:FACTOR, as in 1KB:1GB, 1MiB:1GiB:4 or 8:128M", text);
    char **values = NULL;
    for (uint64_t size = from; size <= to; size *= factor) {
        values = memory_resize(values, count + 1, sizeof *values);
        values[count++] = text_format("%lluB", (unsigned long long)size);
        if (size < to && size > to / factor) { // the last size is a point in any case
            values = memory_resize(values, count + 1, sizeof *values);
            values[count++] = text_format("%lluB", (unsigned long long)to);
        }
        // The next size would be larger than the last one, or overflow.
        if (size > to / factor)
            break;
    }
    int status = grid_add(grid, path, (const char *const *)values, count, err);
    texts_free(values, count);
    return status;
}

void grid_free(struct grid *grid)
{
    for (size_t a = 0; a < grid->n_axes; a++)
        axis_free(&grid->axes[a]);
    free(grid->axes);
    *grid = (struct grid){0};
}

/* ---- points ---- */

size_t grid_points(const struct grid *grid, struct err *err)
{
    double n = 1; // it may be far above the limit
    for (size_t a = 0; a < grid->n_axes; a++)
        n *= (double)grid->axes[a].n;
    if (n <= GRID_POINTS_MAX)
        return (size_t)n;
    err_add(err, "--vary", "the grid has %.0f points; the limit is %d (also with --shard)", n,
            GRID_POINTS_MAX);
    return 0;
}

size_t grid_paths(const struct grid *grid)
{
    size_t n = 0;
    for (size_t a = 0; a < grid->n_axes; a++)
        n += grid->axes[a].n_paths;
    return n;
}

// The axis of path *p; *p becomes its number on the axis.
static size_t axis_of(const struct grid *grid, size_t *p)
{
    size_t a = 0;
    for (; *p >= grid->axes[a].n_paths; a++)
        *p -= grid->axes[a].n_paths;
    return a;
}

const char *grid_path(const struct grid *grid, size_t p)
{
    const struct axis *axis = &grid->axes[axis_of(grid, &p)];
    return axis->paths[p];
}

const char *grid_value(const struct grid *grid, size_t point, size_t p)
{
    size_t a = axis_of(grid, &p);
    // The last axis advances first.
    for (size_t after = grid->n_axes; --after > a;)
        point /= grid->axes[after].n;
    return grid->axes[a].values[p][point % grid->axes[a].n];
}

static char *joined(const struct grid *grid, size_t point, const char *except, bool paths)
{
    struct text text;
    FILE *out = text_open(&text);
    bool first = true;
    for (size_t p = 0; p < grid_paths(grid); p++) {
        const char *path = grid_path(grid, p);
        if (except && strcmp(path, except) == 0)
            continue;
        fprintf(out, "%s%s%s%s", first ? "" : ", ", paths ? path : "", paths ? "=" : "",
                grid_value(grid, point, p));
        first = false;
    }
    return text_close(out, &text);
}

char *grid_label(const struct grid *grid, size_t point, const char *except)
{
    return joined(grid, point, except, true);
}

char *grid_values_text(const struct grid *grid, size_t point, const char *except)
{
    return joined(grid, point, except, false);
}

json_t *grid_values_json(const struct grid *grid, size_t point)
{
    json_t *values = json_object();
    for (size_t p = 0; p < grid_paths(grid); p++)
        json_object_set_new(values, grid_path(grid, p), json_string(grid_value(grid, point, p)));
    return values;
}
