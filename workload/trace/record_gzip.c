// SPDX-License-Identifier: MIT
// zlib's inflate() over pieces of the file.
#include "workload/trace/record_gzip.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "engine/base/memory.h"

#define INPUT_BYTES ((size_t)16 << 10)
#define GZIP_WINDOW (15 + 16) // the largest window, with gzip's header
// Nodes differ in their ids and times at least, so traces shrink by 10 to 100; zlib by up to 1032.
#define RATIO_MOST 250
#define RATIO_FROM ((int64_t)8 << 20) // bytes of content from which on the ratio is checked

struct record_gzip {
    z_stream stream;
    int64_t offset;      // in the file, of the next compressed byte that is read
    int64_t content;     // uncompressed bytes so far
    bool ended, between; // between: a member has ended, and another one may follow
    unsigned char input[INPUT_BYTES];
};

static ssize_t read_at(int fd, unsigned char *bytes, size_t n, int64_t offset)
{
    ssize_t got;
    do
        got = pread(fd, bytes, n, offset);
    while (got < 0 && errno == EINTR);
    return got;
}

struct record_gzip *record_gzip_new(int fd)
{
    unsigned char magic[2];
    if (read_at(fd, magic, 2, 0) != 2 || magic[0] != 0x1f || magic[1] != 0x8b)
        return NULL;
    struct record_gzip *gz = memory_zeroed(1, sizeof *gz);
    while (inflateInit2(&gz->stream, GZIP_WINDOW) == Z_MEM_ERROR)
        memory_short(1 << 16);
    return gz;
}

void record_gzip_free(struct record_gzip *gz)
{
    if (gz == NULL)
        return;
    inflateEnd(&gz->stream);
    free(gz);
}

bool record_gzip_ended(const struct record_gzip *gz) { return gz->ended; }

// Have compressed bytes. Returns false at the end of the file and on failure.
static bool input_fill(struct record_gzip *gz, int fd, const char **why)
{
    if (gz->stream.avail_in > 0)
        return true;
    ssize_t got = read_at(fd, gz->input, INPUT_BYTES, gz->offset);
    if (got < 0)
        *why = strerror(errno);
    else if (got == 0 && !gz->between)
        *why = "the compressed data end too early";
    gz->ended = got == 0;
    if (got <= 0)
        return false;
    gz->offset += got;
    gz->stream.next_in = gz->input;
    gz->stream.avail_in = (unsigned)got;
    return true;
}

size_t record_gzip_read(struct record_gzip *gz, int fd, unsigned char *bytes, size_t n,
                        const char **why)
{
    gz->stream.next_out = bytes;
    gz->stream.avail_out = (unsigned)n;
    while (gz->stream.avail_out > 0 && input_fill(gz, fd, why)) {
        if (gz->between)
            inflateReset(&gz->stream);
        gz->between = false;
        int code = inflate(&gz->stream, Z_NO_FLUSH);
        gz->between = code == Z_STREAM_END;
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
            *why = "the compressed data are damaged";
            break;
        }
    }
    gz->content += (int64_t)(n - gz->stream.avail_out);
    if (gz->content > RATIO_FROM && gz->content / RATIO_MOST > gz->offset)
        *why = "the compressed data expand more than 250 times: this is no trace of a program";
    return n - gz->stream.avail_out;
}
