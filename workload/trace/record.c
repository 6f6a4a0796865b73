// SPDX-License-Identifier: MIT
// A record is copied to the start of the buffer when it is not there as a whole, and the buffer is
// filled behind it.
#include "workload/trace/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/memory.h"
#include "engine/base/regular_file.h"
#include "workload/trace/record_gzip.h"

#define FILL_BYTES ((size_t)16 << 10)
#define VARINT_MAX_BYTES 10

void record_reader_free(struct record_reader *r)
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

int record_next(struct record_reader *r, const unsigned char **bytes, size_t *n, const char *path,
                struct err *err)
{
    uint64_t length;
    bool first = r->offset == 0;
    r->start = r->offset - (int64_t)(r->end - r->begin);
    r->number = first ? 0 : r->number + 1;
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
