// SPDX-License-Identifier: MIT
// Reads through zlib, which passes on uncompressed data unchanged.
#define _GNU_SOURCE // fopencookie
#include "cli/replay/replay_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "engine/base/memory.h"
#include "engine/base/regular_file.h"

#define BUFFER_BYTES (1u << 17)
#define SKIP_BYTES 4096

struct input {
    gzFile gz;
    uint8_t ahead[INPUT_PEEK]; // read from the file, but not from the input
    size_t n_ahead;
    char *failure;
};

struct input *input_open(const char *path, struct err *err)
{
    bool standard = strcmp(path, "-") == 0;
    const char *why = NULL;
    int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : regular_file_open(path, &why);
    if (fd < 0) {
        err_add(err, standard ? "stdin" : path, "%s", why ? why : strerror(errno));
        return NULL;
    }
    gzFile gz = gzdopen(fd, "rb");
    if (gz == NULL) {
        close(fd);
        err_add(err, path, "%s", strerror(ENOMEM));
        return NULL;
    }
    gzbuffer(gz, BUFFER_BYTES);
    struct input *in = memory_zeroed(1, sizeof *in);
    in->gz = gz;
    return in;
}

void input_close(struct input *in)
{
    if (in == NULL)
        return;
    gzclose(in->gz);
    free(in->failure);
    free(in);
}

static const char *failure_text(int code, int reason)
{
    if (code == Z_ERRNO)
        return strerror(reason);
    return code == Z_BUF_ERROR ? "the compressed data end too early"
                               : "the compressed data are damaged";
}

// Read from the file; zlib reports a file that ends within compressed data by its error alone.
static size_t file_read(struct input *in, void *out, size_t n)
{
    size_t done = 0;
    while (done < n && in->failure == NULL) {
        size_t part = n - done < BUFFER_BYTES ? n - done : BUFFER_BYTES;
        errno = 0;
        int got = gzread(in->gz, (uint8_t *)out + done, (unsigned)part);
        int reason = errno, code = Z_OK;
        gzerror(in->gz, &code);
        if (got > 0)
            done += (size_t)got;
        bool ended = got < (int)part; // zlib reports a cut file before all its data are read
        if (got < 0 || (ended && code != Z_OK && code != Z_STREAM_END))
            in->failure = memory_text(failure_text(code, reason));
        if (got <= 0)
            break;
    }
    return done;
}

size_t input_peek(struct input *in, void *out, size_t n)
{
    if (in->n_ahead < n)
        in->n_ahead += file_read(in, in->ahead + in->n_ahead, n - in->n_ahead);
    size_t there = in->n_ahead < n ? in->n_ahead : n;
    memcpy(out, in->ahead, there);
    return there;
}

size_t input_read(struct input *in, void *out, size_t n)
{
    size_t first = in->n_ahead < n ? in->n_ahead : n;
    memcpy(out, in->ahead, first);
    memmove(in->ahead, in->ahead + first, in->n_ahead - first);
    in->n_ahead -= first;
    return first < n ? first + file_read(in, (uint8_t *)out + first, n - first) : first;
}

uint64_t input_skip(struct input *in, uint64_t n)
{
    uint8_t scratch[SKIP_BYTES];
    uint64_t done = 0;
    while (done < n) {
        size_t part = n - done < sizeof scratch ? (size_t)(n - done) : sizeof scratch;
        size_t got = input_read(in, scratch, part);
        done += got;
        if (got < part)
            break;
    }
    return done;
}

const char *input_failure(const struct input *in) { return in->failure; }

static ssize_t cookie_read(void *cookie, char *out, size_t n)
{
    struct input *in = cookie;
    size_t got = input_read(in, out, n);
    return got == 0 && in->failure != NULL ? -1 : (ssize_t)got;
}

FILE *input_stream(struct input *in)
{
    return fopencookie(in, "r", (cookie_io_functions_t){.read = cookie_read});
}
