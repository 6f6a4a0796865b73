// SPDX-License-Identifier: MIT
// Appending n zero bytes multiplies the register by x^8n modulo the CRC's polynomial, which is
// linear in its bits: zlib multiplies in 32 steps, a table by bytes in four.
#include "net/wire/crc_zeros.h"

#include <zlib.h>

static void make_table(struct crc_zeros *c, size_t zeros)
{
    uLong op = crc32_combine_gen((z_off_t)zeros);
    for (unsigned byte = 0; byte < 4; byte++)
        for (uint32_t value = 0; value < 256; value++)
            c->table[byte][value] = (uint32_t)crc32_combine_op(value << 8 * byte, 0, op);
    c->zeros = zeros;
}

uint32_t crc_append_zeros(struct crc_zeros *c, uint32_t crc, size_t zeros)
{
    if (zeros == 0)
        return crc;
    if (zeros != c->zeros) {
        if (zeros != c->last) {
            c->last = zeros;
            return (uint32_t)crc32_combine(crc, 0, (z_off_t)zeros);
        }
        make_table(c, zeros);
    }
    return c->table[0][crc & 255] ^ c->table[1][crc >> 8 & 255] ^ c->table[2][crc >> 16 & 255] ^
           c->table[3][crc >> 24];
}
