// SPDX-License-Identifier: MIT
// INT on the wire, in the layout of the HPCC prototype (Li et al., SIGCOMM 2019, figure 7).
//
//   nHop 4 | path 12                                          number of records; XOR of their ports
//   rate 3 | time, ns 24 | bytes sent / 128  20 | queue / 80  17      a record, the first switch
//     first
//
// rate: 25 Gb/s times 2^rate, the highest step not above the rate of the link (0 below 25G, 7 from
// 3.2T), because three bits cannot encode arbitrary rates. Records inside the simulation may be
// exact; on the wire they always have this resolution. The trailer is an Ethernet trailer, so that
// IP length and ICRC stay correct.
#include "net/capture/int_trailer.h"

#include <string.h>

#include "net/wire/bytes.h"

#define RATE_25G UINT64_C(25000000000)

static uint64_t rate_code(uint64_t rate_bps)
{
    uint64_t code = 0;
    while (code < 7 && rate_bps >= RATE_25G << (code + 1))
        code++;
    return code;
}

static uint64_t record_bits(const struct int_hop *hop)
{
    uint64_t queue = hop->queue_bytes / 80, max = (1u << 17) - 1;
    return rate_code(hop->rate_bps) << 61 | ((uint64_t)hop->t_ps / 1000 & 0xffffff) << 37 |
           (hop->tx_bytes / 128 & 0xfffff) << 17 | (queue < max ? queue : max);
}

void int_trailer_put(uint8_t *out, size_t bytes, const struct packet_meta *meta,
                     const struct int_hop *hops)
{
    memset(out, 0, bytes);
    if (bytes == 1)
        put8(out, meta->pint);
    if (bytes < 2 || !meta->int_enabled)
        return;
    uint32_t path = 0;
    uint8_t *at = out + 2;
    for (unsigned h = 0; h < meta->int_hops && 2 + 8 * (h + 1) <= bytes; h++) {
        path ^= hops[h].port;
        at = put64(at, record_bits(&hops[h]));
    }
    put16(out, (uint16_t)((unsigned)meta->int_hops << 12 | (path & 0xfff)));
}
