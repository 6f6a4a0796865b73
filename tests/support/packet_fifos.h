// SPDX-License-Identifier: MIT
// Several FIFOs of packets against arrays, for any implementation of FIFOs.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "net/packet.h"

#define PACKET_FIFOS 7

struct packet_fifos {
    struct packet *(*push)(void *ctx, size_t fifo);
    const struct packet *(*head)(void *ctx, size_t fifo);
    void (*drop)(void *ctx, size_t fifo);
    uint32_t (*count)(void *ctx, size_t fifo);
    uint64_t (*held)(void *ctx); // memory in use, in the unit of the pool
    void *ctx;
};

// Write a packet whose fields encode its number, and check that a packet has a number.
struct packet packet_numbered(uint32_t n);
void assert_packet(const struct packet *p, uint32_t n);

// 300000 random pushes and drops on PACKET_FIFOS empty FIFOs, which fill and empty alternately and
// are empty at the end. Returns the maximum that was held.
uint64_t packet_fifos_walk(const struct packet_fifos *fifos);
