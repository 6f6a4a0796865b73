// SPDX-License-Identifier: MIT
#include "cli/replay/captured_host.h"

#include <stdlib.h>

#include "engine/base/memory.h"

// Valid until the next call.
static struct captured_host *host_get(struct captured_hosts *hosts, const struct address *address)
{
    size_t *place = table_at(&hosts->number_of, address, sizeof *address);
    if (*place > 0)
        return &hosts->list[*place - 1];
    if (hosts->n == hosts->cap)
        hosts->list = memory_grow(hosts->list, &hosts->cap, sizeof *hosts->list);
    hosts->list[hosts->n] = (struct captured_host){.address = *address};
    *place = ++hosts->n;
    return &hosts->list[hosts->n - 1];
}

void captured_host_note(struct captured_hosts *hosts, const struct datagram *d, enum skip skip)
{
    struct captured_host *src = host_get(hosts, &d->src);
    hosts->packets++;
    src->sent++;
    src->cnps_sent += skip == SKIP_CNP;
    src->again += skip == SKIP_SEEN;
    struct captured_host *dst = host_get(hosts, &d->dst);
    dst->received++;
    dst->cnps_received += skip == SKIP_CNP;
    dst->marks += d->congested;
}

size_t captured_hosts_common(const struct captured_hosts *hosts,
                             const struct captured_host *common[2])
{
    size_t n = 0;
    for (size_t i = 0; i < hosts->n && n < 2; i++) {
        const struct captured_host *h = &hosts->list[i];
        if (h->sent + h->received == hosts->packets)
            common[n++] = h;
    }
    return n;
}

void captured_hosts_free(struct captured_hosts *hosts)
{
    free(hosts->list);
    table_free(&hosts->number_of);
    *hosts = (struct captured_hosts){0};
}
