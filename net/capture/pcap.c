// SPDX-License-Identifier: MIT
// The pcap format, written by libpcap.
#define _GNU_SOURCE // fopencookie()
#include <pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "net/capture/capture_file.h"

#define NS_PER_S INT64_C(1000000000)

struct pcap_writer {
    pcap_t *pcap; // a dead handle: link type, snaplen, precision
    pcap_dumper_t *dumper;
    uint8_t *frame; // one frame with its payload
    size_t cap;
};

// The output keeps its errors, so none is reported here.
static ssize_t into_output(void *cookie, const char *bytes, size_t n)
{
    output_put(cookie, bytes, n);
    return (ssize_t)n;
}

static FILE *stream_of(struct output *o)
{
    for (;;) {
        FILE *stream = fopencookie(o, "wb", (cookie_io_functions_t){.write = into_output});
        if (stream)
            return stream;
        memory_short(BUFSIZ);
    }
}

struct pcap_writer *pcap_begin(struct output *o, const struct capture_file_config *config)
{
    struct pcap_writer *w = memory_zeroed(1, sizeof *w);
    while (!(w->pcap = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, (int)config->snaplen,
                                                            PCAP_TSTAMP_PRECISION_NANO)))
        memory_short(BUFSIZ);
    FILE *stream = stream_of(o);
    while (!(w->dumper = pcap_dump_fopen(w->pcap, stream)))
        memory_short(BUFSIZ);
    return w;
}

void pcap_put(struct pcap_writer *w, const struct record *r)
{
    size_t kept = record_kept(r);
    int64_t ns = ns_of_ps(r->time_ps);
    if (kept > w->cap)
        w->frame = memory_resize(w->frame, w->cap = kept, 1);
    memcpy(w->frame, r->bytes, r->head_bytes);
    memset(w->frame + r->head_bytes, 0, r->zero_bytes);
    memcpy(w->frame + r->head_bytes + r->zero_bytes, r->bytes + r->head_bytes, r->tail_bytes);
    struct pcap_pkthdr header = {.ts = {.tv_sec = ns / NS_PER_S, .tv_usec = ns % NS_PER_S},
                                 .caplen = (bpf_u_int32)kept,
                                 .len = r->length};
    pcap_dump((u_char *)w->dumper, &header, w->frame);
}

void pcap_flush(struct pcap_writer *w) { fflush(pcap_dump_file(w->dumper)); }

void pcap_end(struct pcap_writer *w)
{
    if (!w)
        return;
    pcap_dump_close(w->dumper);
    pcap_close(w->pcap);
    free(w->frame);
    free(w);
}
