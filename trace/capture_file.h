// SPDX-License-Identifier: MIT
// One nanosecond pcap file of Ethernet frames, with an optional filter; implemented by
// trace/pcap.c.
#pragma once

#include <stdint.h>

#include "engine/err.h"

struct capture_file;

// Check a filter (NULL = all packets) without opening a file. Returns 0, or -1 with an error at
// `path`.
int capture_file_check_filter(const char *filter, uint32_t snaplen, const char *path,
                              struct err *err);

// Create the file ("-" = stdout) and write its header. Returns NULL on failure, with one error that
// calls the file `name`.
struct capture_file *capture_file_open(const char *path, const char *name, const char *filter,
                                       uint32_t snaplen, struct err *err);

// Returns errno of the first failed write, 0 = none. Always 0 on stdout, whose reader may end at
// any time.
int capture_file_error(const struct capture_file *f);

// Write a frame with time `ns` since the start, unless the filter rejects it. The frame has `len`
// bytes, and `bytes` has the first `kept` of them. The first write error is kept and stops all
// writing.
void capture_file_put(struct capture_file *f, int64_t ns, const uint8_t *bytes, size_t kept,
                      size_t len);

// Flush stdout for a live reader. Does nothing for a regular file.
void capture_file_show(struct capture_file *f);

// Close and free. *packets is set to the number of frames written; `packets` may be NULL. Returns
// 0, or -1 with an error that names the file if any byte could not be written.
int capture_file_close(struct capture_file *f, uint64_t *packets, struct err *err);
