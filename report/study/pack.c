// SPDX-License-Identifier: MIT
// Compresses the metrics of points (zlib, RFC 1950).
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "engine/base/memory.h"
#include "report/study/store.h"

void *metrics_pack(const char *text, size_t *size)
{
    uLong length = (uLong)strlen(text);
    uLongf room = compressBound(length);
    void *packed = memory_bytes(room);
    while (compress2(packed, &room, (const Bytef *)text, length, Z_DEFAULT_COMPRESSION) != Z_OK)
        memory_short(room); // the only reason is a lack of memory
    *size = (size_t)room;
    return packed;
}

#define RATIO_MOST 1032 // of zlib
#define RATIO_FROM 64   // up to so many bytes any packed size is tried

char *metrics_unpack(const void *packed, size_t size, size_t bytes)
{
    if (bytes > RATIO_FROM && bytes / RATIO_MOST > size)
        return NULL; // a wrong length
    char *text = memory_zeroed(bytes + 1, 1);
    uLongf length = (uLongf)bytes;
    if (uncompress((Bytef *)text, &length, packed, (uLong)size) == Z_OK && length == bytes)
        return text;
    free(text);
    return NULL;
}
