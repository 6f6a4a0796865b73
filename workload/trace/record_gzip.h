// SPDX-License-Identifier: MIT
// The bytes of a file that is compressed by gzip, from its beginning to its end.
//
// As the reader of records, it holds no file descriptor between its calls; the state of the
// decompression stays (some 60 KB).
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct record_gzip;

// Returns NULL if the file `fd` is not compressed. Release with record_gzip_free().
struct record_gzip *record_gzip_new(int fd);
void record_gzip_free(struct record_gzip *gz);

// Read up to `n` bytes. Returns how many; fewer only at the end. On failure *why is set to the
// reason.
size_t record_gzip_read(struct record_gzip *gz, int fd, unsigned char *bytes, size_t n,
                        const char **why);
bool record_gzip_ended(const struct record_gzip *gz);
