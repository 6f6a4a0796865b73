// SPDX-License-Identifier: MIT
// Several FIFOs of packets against arrays, whatever the FIFOs are made of.
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
    uint64_t (*held)(void *ctx); // memory, in the pool's measure
    void *ctx;
};

// A packet whose fields tell its number, and that it is this one.
struct packet packet_numbered(uint32_t n);
void assert_packet(const struct packet *p, uint32_t n);

// 300000 random pushes and drops over PACKET_FIFOS empty ones, filling and emptying them by turns; at the
// end all are empty again. Returns the most that was held.
uint64_t packet_fifos_walk(const struct packet_fifos *fifos);
