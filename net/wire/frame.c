// SPDX-License-Identifier: MIT
// Frames as contiguous bytes.
#include "net/wire/frame.h"

#include <string.h>

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

size_t frame_copy(const struct frame *f, uint8_t *out, size_t cap)
{
    size_t kept = least(frame_bytes(f), cap), head = least(f->head_bytes, kept);
    size_t zeros = least(f->zero_bytes, kept - head);
    memcpy(out, f->head, head);
    memset(out + head, 0, zeros);
    memcpy(out + head + zeros, f->tail, kept - head - zeros);
    return kept;
}
