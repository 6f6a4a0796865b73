// SPDX-License-Identifier: MIT
// Filters of packets: pcap filter expressions, compiled by libpcap.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "net/wire/frame.h"

struct filter;

// Compile an expression for frames cut to `snaplen` bytes. Returns NULL with an error at `path` on
// failure.
struct filter *filter_new(const char *expression, uint32_t snaplen, const char *path,
                          struct err *err);
void filter_free(struct filter *f); // NULL is legal

// True if the filter accepts the frame. It cannot match beyond the snaplen.
bool filter_accepts(struct filter *f, const struct frame *frame);
