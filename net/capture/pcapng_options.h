// SPDX-License-Identifier: MIT
// Options of pcapng blocks (draft-ietf-opsawg-pcapng): code, length, value, padding to 4 bytes, in
// the byte order of this machine.
#pragma once

#include <stdint.h>
#include <string.h>

enum pcapng_option {
    OPTION_END = 0,
    OPTION_COMMENT = 1,
    /* section header */
    OPTION_APPLICATION = 4,
    /* interface description */
    OPTION_IF_NAME = 2,
    OPTION_IF_DESCRIPTION = 3,
    OPTION_IF_SPEED = 8,
    OPTION_IF_RESOLUTION = 9,
    OPTION_IF_FILTER = 11,
    /* enhanced packet */
    OPTION_FLAGS = 2,
    OPTION_PACKET_ID = 5,
    OPTION_QUEUE = 6,
    OPTION_VERDICT = 7,
};

#define OPTION_BYTES(n) (4 + (((n) + 3) & ~(size_t)3))

// Write an option and return the byte after it.
static inline uint8_t *option_put(uint8_t *at, uint16_t code, const void *value, size_t n)
{
    uint16_t head[2] = {code, (uint16_t)n};
    memset(at + OPTION_BYTES(n) - 4, 0, 4); // padding; overwritten where there is none
    memcpy(at, head, sizeof head);
    if (n > 0)
        memcpy(at + 4, value, n);
    return at + OPTION_BYTES(n);
}
