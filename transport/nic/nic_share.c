// SPDX-License-Identifier: MIT
// Sharing of a NIC port among classes: surplus round robin (Adiseshu, Parulkar & Varghese, SIGCOMM
// 1996). It is deficit round robin with payment after the transmission, because the size of a
// packet is not known before it is built. A class sends while its credit is positive; each turn
// adds one quantum. A class that cannot send loses its positive credit.
#include "transport/nic/nic.h"

static bool can_send(struct nic *nic, ps_t now)
{
    return !nic->paused && nic_next_ps(nic, now) <= now;
}

struct nic *nic_share_turn(struct nic *classes, uint32_t n, ps_t now)
{
    unsigned ready = 0;
    for (uint32_t i = 0; i < n; i++)
        ready |= (unsigned)can_send(&classes[i], now) << i;
    for (uint8_t turn = classes->turn; ready;) {
        struct nic *nic = &classes[turn];
        if (ready >> turn & 1 && nic->credit_bytes > 0) {
            classes->turn = turn;
            return nic;
        }
        if (!(ready >> turn & 1) && nic->credit_bytes > 0)
            nic->credit_bytes = 0;
        turn = (uint8_t)((turn + 1u) % n);
        classes[turn].credit_bytes += (int32_t)classes[turn].quantum_bytes;
    }
    return NULL;
}

ps_t nic_share_next_ps(struct nic *classes, uint32_t n, ps_t now)
{
    ps_t first = PS_NEVER;
    for (uint32_t i = 0; i < n; i++) {
        ps_t next = classes[i].paused ? PS_NEVER : nic_next_ps(&classes[i], now);
        first = next < first ? next : first;
    }
    return first;
}
