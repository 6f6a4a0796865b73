// SPDX-License-Identifier: MIT
// Files of records, compressed by gzip or not: each is preceded by its length, a varint of protocol
// buffers.
//
// A reader holds no file descriptor between its calls: it opens the file to fill its buffer, so
// that thousands of ranks can be read at the same time. The buffer is as large as the largest
// record that was read.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "engine/base/err.h"

#define RECORD_MAX_BYTES (UINT32_C(64) << 20)

struct record_reader {
    /* config */
    const char *file; // borrowed
    /* state */
    int64_t size;            // of the file when it was first read
    struct timespec changed; // the same for its last change
    int64_t offset;          // in the file, of the next byte behind the buffer
    int64_t start;           // in the file, of the current record's length
    uint64_t number;         // of the current record, from 0
    unsigned char *bytes;    // buffer
    size_t begin, end, cap;  // bytes in the buffer that have not been read; its size
    struct record_gzip *gz;  // NULL = the file is not compressed; offsets are those of its content
};

// Zero-initialise with `file` set; release with record_reader_free().
void record_reader_free(struct record_reader *r);

// Read the next record; *bytes is valid until the next call. Returns 1; 0 at the end of the file;
// -1 with an error at `path` that names the file, the record and the byte.
int record_next(struct record_reader *r, const unsigned char **bytes, size_t *n, const char *path,
                struct err *err);
