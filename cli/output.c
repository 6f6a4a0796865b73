// SPDX-License-Identifier: MIT
// Files of a run.
#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options.h"
#include "engine/memory.h"

static char *join(const char *dir, const char *name, const char *end)
{
    size_t n = strlen(dir) + strlen(name) + strlen(end) + 2;
    char *path = memory_zeroed(n, 1);
    snprintf(path, n, "%s/%s%s", dir, name, end);
    return path;
}

static int make_path(const char *dir)
{
    char *path = memory_text(dir);
    int status = 0;
    for (char *p = path + 1; status == 0; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        char end = *p;
        *p = '\0';
        status = mkdir(path, 0777) != 0 && errno != EEXIST ? -1 : 0;
        *p = end;
        if (end == '\0')
            break;
    }
    int reason = errno;
    free(path);
    errno = reason;
    return status;
}

int output_prepare(const char *dir, struct err *err)
{
    if (*dir == '\0')
        return err_add(err, "--out", "the output directory has no name");
    if (make_path(dir) != 0)
        return err_add(err, dir, "cannot make the output directory: %s", strerror(errno));
    char *path = join(dir, ".collwire", ".tmp");
    FILE *probe = fopen(path, "w");
    int reason = errno;
    if (probe) {
        fclose(probe);
        unlink(path);
    }
    free(path);
    return probe ? 0 : err_add(err, dir, "cannot write there: %s", strerror(reason));
}

int output_write(const char *dir, const char *name, const char *text, struct err *err)
{
    char *path = join(dir, name, ""), *temporary = join(dir, name, ".tmp");
    FILE *f = fopen(temporary, "w");
    bool good = f != NULL;
    int reason = good ? 0 : errno;
    if (f) {
        good = fputs(text, f) >= 0 && fflush(f) == 0 && fsync(fileno(f)) == 0;
        reason = good ? 0 : errno;
        if (fclose(f) != 0 && good) {
            good = false;
            reason = errno;
        }
    }
    if (good && rename(temporary, path) != 0) {
        good = false;
        reason = errno;
    }
    if (!good) {
        err_add(err, path, "cannot be written: %s", strerror(reason));
        unlink(temporary);
    }
    free(path);
    free(temporary);
    return good ? 0 : -1;
}

char *output_read(const char *dir, const char *name)
{
    char *path = join(dir, name, ""), *text = NULL;
    FILE *f = fopen(path, "r");
    free(path);
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    if (size >= 0) {
        text = memory_zeroed((size_t)size + 1, 1);
        if (fread(text, 1, (size_t)size, f) != (size_t)size) {
            free(text);
            text = NULL;
        }
    }
    fclose(f);
    return text;
}

int text_write(const char *file, const char *text)
{
    FILE *out = file ? fopen(file, "w") : stdout;
    bool good = out != NULL && fprintf(out, "%s\n", text) >= 0;
    if (file && out)
        good &= fclose(out) == 0;
    if (good)
        return EXIT_DONE;
    fprintf(stderr, "collwire: %s cannot be written: %s\n", file ? file : "stdout",
            strerror(errno));
    return EXIT_BAD_USE;
}
