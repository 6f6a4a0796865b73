// SPDX-License-Identifier: MIT
// The CRC-32 of bytes that are followed by zeros, without reading the zeros.
#pragma once

#include <stddef.h>
#include <stdint.h>

// A table for one number of zeros, which is made when this number comes twice in a row.
// Zero-initialise.
struct crc_zeros {
    size_t last, zeros; // number of the last call; number of the table
    uint32_t table[4][256];
};

// Returns the CRC-32 register after `zeros` zero bytes. The register is the complement of zlib's
// CRC.
uint32_t crc_append_zeros(struct crc_zeros *c, uint32_t crc, size_t zeros);
