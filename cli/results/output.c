// SPDX-License-Identifier: MIT
// Replaces one file.
#include "cli/results/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/terminal/exit_codes.h"
#include "cli/terminal/signals.h"
#include "sim/result/result.h"

// Open a temporary file in the folder of the file to be replaced; *path is its name.
static FILE *beside_open(const char *file, char **path)
{
    const char *slash = strrchr(file, '/');
    int folder = slash ? (int)(slash - file) + 1 : 0;
    *path = text_format("%.*s.collwire-XXXXXX", folder, file);
    int fd = mkstemp(*path);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    mode_t mask = umask(0);
    umask(mask);
    if (out)
        fchmod(fd, 0666 & ~mask);
    else if (fd >= 0)
        close(fd);
    return out;
}

static int write_all(FILE *out, output_put *put, const void *ctx)
{
    if (out)
        put(out, ctx);
    bool good = out && !ferror(out) && fflush(out) == 0;
    int reason = errno;
    if (out && out != stdout && fclose(out) != 0 && good)
        return -1;
    errno = reason;
    return good ? 0 : -1;
}

// Pipes and devices are written to, not replaced.
static int replace(const char *file, output_put *put, const void *ctx)
{
    struct stat there;
    char *path;
    if (stat(file, &there) == 0 && !S_ISREG(there.st_mode))
        return write_all(fopen(file, "w"), put, ctx);
    FILE *out = beside_open(file, &path);
    signals_remove_later(path);
    int status = write_all(out, put, ctx);
    if (status == 0)
        status = rename(path, file);
    int reason = errno;
    if (status != 0)
        unlink(path);
    signals_keep_last();
    free(path);
    errno = reason;
    return status;
}

int output_write(const char *file, output_put *put, const void *ctx)
{
    if ((file ? replace(file, put, ctx) : write_all(stdout, put, ctx)) == 0)
        return EXIT_DONE;
    fprintf(stderr, "collwire: %s cannot be written: %s\n", file ? file : "stdout",
            strerror(errno));
    return EXIT_BAD_USE;
}

static void put_text(FILE *out, const void *text) { fprintf(out, "%s\n", (const char *)text); }

static void put_json(FILE *out, const void *json)
{
    json_dumpf(json, out, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    fputc('\n', out);
}

int json_write(const char *file, const json_t *json) { return output_write(file, put_json, json); }

int text_write(const char *file, const char *text) { return output_write(file, put_text, text); }
