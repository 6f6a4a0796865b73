// SPDX-License-Identifier: MIT
// Filters of packets.
#include "net/capture/filter.h"

#include <errno.h>
#include <pcap.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

struct filter {
    struct bpf_program program;
    uint32_t snaplen;
    uint8_t *bytes; // a frame with its payload
    size_t cap;
};

struct filter *filter_new(const char *expression, uint32_t snaplen, const char *path,
                          struct err *err)
{
    pcap_t *pcap = pcap_open_dead(DLT_EN10MB, (int)snaplen);
    if (!pcap) {
        err_add(err, path, "%s", strerror(ENOMEM));
        return NULL;
    }
    struct filter *f = memory_zeroed(1, sizeof *f);
    f->snaplen = snaplen;
    if (pcap_compile(pcap, &f->program, expression, 1, PCAP_NETMASK_UNKNOWN)) {
        err_add(err, path, "\"%s\": %s", expression, pcap_geterr(pcap));
        free(f);
        f = NULL;
    }
    pcap_close(pcap);
    return f;
}

void filter_free(struct filter *f)
{
    if (!f)
        return;
    pcap_freecode(&f->program);
    free(f->bytes);
    free(f);
}

bool filter_accepts(struct filter *f, const struct frame *frame)
{
    size_t length = frame_bytes(frame), kept = length < f->snaplen ? length : f->snaplen;
    if (kept > f->cap)
        f->bytes = memory_resize(f->bytes, f->cap = kept, 1);
    frame_copy(frame, f->bytes, kept);
    struct pcap_pkthdr header = {.caplen = (bpf_u_int32)kept, .len = (bpf_u_int32)length};
    return pcap_offline_filter(&f->program, &header, f->bytes) != 0;
}
