// SPDX-License-Identifier: MIT
// The generation of a trace is known from its metadata, which state a version since October 2023,
// or, where they do not, from the first node that has attributes: the old schema has them in
// field 11, which the new one does not have.
#include "workload/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "engine/base/err.h"
#include "engine/base/memory.h"
#include "engine/base/regular_file.h"
#include "workload/trace/decode_internal.h"
#include "workload/trace/trace_json.h"

/* ---- record ---- */

// Files of records, compressed by gzip or not: each is preceded by its length, a varint of protocol
// buffers.
//
// A reader holds no file descriptor between its calls: it opens the file to fill its buffer, so
// that thousands of ranks can be read at the same time. The buffer is as large as the largest
// record that was read.

/* ---- record gzip ---- */

// The bytes of a file that is compressed by gzip, from its beginning to its end.
//
// As the reader of records, it holds no file descriptor between its calls; the state of the
// decompression stays (some 60 KB).

struct record_gzip;

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

static ssize_t record_gzip_read_at(int fd, unsigned char *bytes, size_t n, int64_t offset)
{
    ssize_t got;
    do
        got = pread(fd, bytes, n, offset);
    while (got < 0 && errno == EINTR);
    return got;
}

// Returns NULL if the file `fd` is not compressed. Release with record_gzip_free().
static struct record_gzip *record_gzip_new(int fd)
{
    unsigned char magic[2];
    if (record_gzip_read_at(fd, magic, 2, 0) != 2 || magic[0] != 0x1f || magic[1] != 0x8b)
        return NULL;
    struct record_gzip *gz = memory_zeroed(1, sizeof *gz);
    while (inflateInit2(&gz->stream, GZIP_WINDOW) == Z_MEM_ERROR)
        memory_short(1 << 16);
    return gz;
}

static void record_gzip_free(struct record_gzip *gz)
{
    if (gz == NULL)
        return;
    inflateEnd(&gz->stream);
    free(gz);
}

static bool record_gzip_ended(const struct record_gzip *gz) { return gz->ended; }

// Have compressed bytes. Returns false at the end of the file and on failure.
static bool input_fill(struct record_gzip *gz, int fd, const char **why)
{
    if (gz->stream.avail_in > 0)
        return true;
    ssize_t got = record_gzip_read_at(fd, gz->input, INPUT_BYTES, gz->offset);
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

// Read up to `n` bytes. Returns how many; fewer only at the end. On failure *why is set to the
// reason.
static size_t record_gzip_read(struct record_gzip *gz, int fd, unsigned char *bytes, size_t n,
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

/* ---- record ---- */

#define FILL_BYTES ((size_t)16 << 10)
#define VARINT_MAX_BYTES 10

// Zero-initialise with `file` set; release with record_reader_free().
static void record_reader_free(struct record_reader *r)
{
    free(r->bytes);
    record_gzip_free(r->gz);
    *r = (struct record_reader){0};
}

// Check that the file has not changed since it was opened first.
static int file_check(struct record_reader *r, int fd, const char *path, struct err *err)
{
    struct stat now;
    if (fstat(fd, &now) != 0)
        return err_add(err, path, "%s: %s", r->file, strerror(errno));
    if (r->offset == 0) {
        r->size = now.st_size;
        r->changed = now.st_mtim;
        if (r->gz == NULL)
            r->gz = record_gzip_new(fd);
    }
    if (r->size != now.st_size || r->changed.tv_sec != now.st_mtim.tv_sec ||
        r->changed.tv_nsec != now.st_mtim.tv_nsec)
        return err_add(err, path, "%s changed while it was read", r->file);
    return 0;
}

static int read_at(int fd, unsigned char *bytes, size_t n, int64_t offset, size_t *got)
{
    *got = 0;
    while (*got < n) {
        ssize_t part = pread(fd, bytes + *got, n - *got, offset + (int64_t)*got);
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return -1;
        if (part == 0)
            break;
        *got += (size_t)part;
    }
    return 0;
}

static bool at_end(const struct record_reader *r)
{
    return r->gz != NULL ? record_gzip_ended(r->gz) : r->offset > 0 && r->offset == r->size;
}

// Read up to `n` bytes behind the buffer's. Returns 0, or -1 with an error.
static int fill(struct record_reader *r, int fd, size_t n, size_t *got, const char *path,
                struct err *err)
{
    const char *why = NULL;
    if (r->gz != NULL)
        *got = record_gzip_read(r->gz, fd, r->bytes + r->end, n, &why);
    else if (read_at(fd, r->bytes + r->end, n, r->offset, got) != 0)
        why = strerror(errno);
    return why == NULL ? 0 : err_add(err, path, "%s: %s", r->file, why);
}

// Have at least `n` bytes in the buffer, fewer only at the end of the file.
static int need(struct record_reader *r, size_t n, const char *path, struct err *err)
{
    if (r->end - r->begin >= n || at_end(r))
        return 0;
    size_t wanted = n > FILL_BYTES ? n : FILL_BYTES, got;
    if (r->end > r->begin)
        memmove(r->bytes, r->bytes + r->begin, r->end - r->begin);
    r->end -= r->begin;
    r->begin = 0;
    if (r->cap < wanted) {
        r->bytes = memory_resize(r->bytes, wanted, 1);
        r->cap = wanted;
    }
    const char *why;
    int fd = regular_file_open(r->file, &why);
    if (fd < 0)
        return err_add(err, path, "%s: %s", r->file, why);
    int result = file_check(r, fd, path, err);
    if (result == 0)
        result = fill(r, fd, wanted - r->end, &got, path, err);
    close(fd);
    if (result != 0)
        return -1;
    r->end += got;
    r->offset += (int64_t)got;
    return 0;
}

static int record_error(const struct record_reader *r, const char *path, struct err *err,
                        const char *what)
{
    return err_add(err, path, "%s: record %llu at byte %lld %s", r->file,
                   (unsigned long long)r->number, (long long)r->start, what);
}

// Read the length of the next record into *length. Returns 1, 0 at the end of the file, -1.
static int length_next(struct record_reader *r, uint64_t *length, const char *path, struct err *err)
{
    if (need(r, VARINT_MAX_BYTES, path, err) != 0)
        return -1;
    if (r->begin == r->end)
        return 0;
    *length = 0;
    for (unsigned i = 0; i < VARINT_MAX_BYTES; i++) {
        if (r->begin == r->end)
            return record_error(r, path, err, "is cut off: the file ends in its length");
        unsigned char byte = r->bytes[r->begin++];
        if (i == VARINT_MAX_BYTES - 1 && byte > 1)
            break;
        *length |= (uint64_t)(byte & 0x7f) << (7 * i);
        if ((byte & 0x80) == 0)
            return 1;
    }
    return record_error(r, path, err, "has a bad length: not a varint of 64 bits");
}

/* ---- record in JSON ---- */

static bool is_blank(unsigned char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// True if the file begins as a JSON object does: a brace and, behind blanks, a key. A record of 123
// bytes begins with the same byte, and then with the metadata's version.
static bool begins_json(const struct record_reader *r)
{
    size_t at = r->begin;
    if (at == r->end || r->bytes[at] != '{')
        return false;
    for (at++; at < r->end && is_blank(r->bytes[at]);)
        at++;
    return at < r->end && r->bytes[at] == '"';
}

// Have the byte `at` places behind the beginning. Returns 1; 0 at the end of the file; -1.
static int byte_have(struct record_reader *r, size_t at, const char *path, struct err *err)
{
    size_t had = r->end - r->begin;
    if (at < had)
        return 1;
    if (had > RECORD_MAX_BYTES)
        return record_error(r, path, err, "is longer than 64 MB: is this an execution trace?");
    if (need(r, 2 * had + FILL_BYTES, path, err) != 0)
        return -1;
    return at < r->end - r->begin;
}

// The next object of a file in JSON, as record_next().
static int object_next(struct record_reader *r, const unsigned char **bytes, size_t *n,
                       const char *path, struct err *err)
{
    size_t at = 0, depth = 0;
    bool text = false;
    int got;
    while ((got = byte_have(r, 0, path, err)) > 0 && is_blank(r->bytes[r->begin]))
        r->begin++;
    r->start = r->offset - (int64_t)(r->end - r->begin);
    if (got <= 0)
        return got;
    if (r->bytes[r->begin] != '{')
        return record_error(r, path, err, "is no JSON object");
    for (; (got = byte_have(r, at, path, err)) > 0; at++) {
        unsigned char c = r->bytes[r->begin + at];
        if (c == '"')
            text = !text;
        else if (text)
            at += c == '\\';
        else if (c == '{')
            depth++;
        else if (c == '}' && --depth == 0)
            break;
    }
    if (got <= 0)
        return got < 0 ? -1 : record_error(r, path, err, "is cut off: the file ends in it");
    *bytes = r->bytes + r->begin;
    *n = at + 1;
    r->begin += at + 1;
    return 1;
}

// Read the next record; *bytes is valid until the next call. Returns 1; 0 at the end of the file;
// -1 with an error at `path` that names the file, the record and the byte.
static int record_next(struct record_reader *r, const unsigned char **bytes, size_t *n,
                       const char *path, struct err *err)
{
    uint64_t length;
    bool first = r->offset == 0;
    r->start = r->offset - (int64_t)(r->end - r->begin);
    r->number = first ? 0 : r->number + 1;
    if (first && need(r, VARINT_MAX_BYTES, path, err) != 0)
        return -1;
    if (first)
        r->json = begins_json(r);
    if (r->json)
        return object_next(r, bytes, n, path, err);
    int result = length_next(r, &length, path, err);
    if (result != 1)
        return result;
    if (length > RECORD_MAX_BYTES)
        return record_error(r, path, err, "is longer than 64 MB: is this an execution trace?");
    int64_t left = r->size - (r->offset - (int64_t)(r->end - r->begin));
    if (r->gz == NULL && (int64_t)length > left)
        return err_add(err, path,
                       "%s: record %llu at byte %lld is cut off: the file has %lld of its %llu "
                       "bytes",
                       r->file, (unsigned long long)r->number, (long long)r->start, (long long)left,
                       (unsigned long long)length);
    if (need(r, (size_t)length, path, err) != 0)
        return -1;
    if (r->end - r->begin < length && r->gz != NULL)
        return record_error(r, path, err, "is cut off: the file ends in it");
    if (r->end - r->begin < length)
        return err_add(err, path, "%s changed while it was read", r->file);
    *bytes = r->bytes + r->begin;
    *n = (size_t)length;
    r->begin += (size_t)length;
    return 1;
}

/* ---- trace ---- */

void trace_free(struct trace *t)
{
    decode_release(t);
    free(t->after);
    if (t->converted != NULL)
        free(t->converted->bytes);
    free(t->converted);
    trace_program_free(&t->program);
    record_reader_free(&t->records);
    *t = (struct trace){0};
}

int trace_error(const struct trace *t, const struct trace_node *node, const char *path,
                struct err *err, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const struct record_reader *r = &t->records;
    if (node == NULL)
        return err_add(err, path, "%s: record %llu at byte %lld %s", r->file,
                       (unsigned long long)r->number, (long long)r->start, text);
    return err_add(err, path, "%s: node %llu%s%.60s%s (record %llu at byte %lld): %s", r->file,
                   (unsigned long long)node->id, node->name[0] ? " \"" : "", node->name,
                   node->name[0] ? "\"" : "", (unsigned long long)r->number, (long long)r->start,
                   text);
}

// The next record as protocol buffers, as record_next().
static int wire_next(struct trace *t, const unsigned char **bytes, size_t *n, const char *path,
                     struct err *err)
{
    int result = record_next(&t->records, bytes, n, path, err);
    if (result != 1 || !t->records.json)
        return result;
    if (t->converted == NULL)
        t->converted = memory_zeroed(1, sizeof *t->converted);
    if (!trace_json_convert(t->converted, (const char *)*bytes, *n, !t->begun))
        return record_error(&t->records, path, err, t->converted->why);
    *bytes = t->converted->bytes;
    *n = t->converted->n;
    return 1;
}

int trace_begin(struct trace *t, const char *path, struct err *err)
{
    if (t->begun)
        return 0;
    const unsigned char *bytes;
    size_t n;
    int result = wire_next(t, &bytes, &n, path, err);
    if (result == 0)
        return err_add(err, path, "%s is empty: an execution trace begins with its metadata",
                       t->records.file);
    if (result < 0)
        return -1;
    t->begun = true;
    return decode_metadata(t, bytes, n, path, err);
}

int trace_next(struct trace *t, struct trace_node *node, const char *path, struct err *err)
{
    const unsigned char *bytes;
    size_t n;
    if (trace_begin(t, path, err) != 0)
        return -1;
    int result = wire_next(t, &bytes, &n, path, err);
    if (result != 1)
        return result;
    if (n == 0) // all values are their defaults, so it has no kind
        return trace_error(t, NULL, path, err, "is empty: it is no node");
    return decode_node(t, bytes, n, node, path, err) == 0 ? 1 : -1;
}
