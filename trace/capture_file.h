// SPDX-License-Identifier: MIT
// One nanosecond pcap file of Ethernet frames with an optional filter; pcap.c implements it.
#pragma once

#include <stdint.h>

#include "engine/err.h"

struct capture_file;

// Check a filter (NULL = all) without opening a file; 0, or -1 with an error at `path`.
int capture_file_check_filter(const char *filter, uint32_t snaplen, const char *path,
                              struct err *err);

// Create the file ("-" = stdout) and write its header. NULL with one error on failure, which calls it
// `name`.
struct capture_file *capture_file_open(const char *path, const char *name, const char *filter,
                                       uint32_t snaplen, struct err *err);

// errno of the first write that failed, 0 = none; 0 on stdout, whose reader may leave.
int capture_file_error(const struct capture_file *f);

// Write a frame of `len` bytes, of which `kept` are at `bytes`, at `ns` since the start unless the
// filter rejects it. The first write error is kept and stops all writing.
void capture_file_put(struct capture_file *f, int64_t ns, const uint8_t *bytes, size_t kept,
                      size_t len);

// Push what was written to a reader that may be watching (stdout); nothing for a plain file.
void capture_file_show(struct capture_file *f);

// Close and free; `packets` (may be NULL) gets the frames written. 0, or -1 with an error naming
// the file when anything failed to reach it.
int capture_file_close(struct capture_file *f, uint64_t *packets, struct err *err);
