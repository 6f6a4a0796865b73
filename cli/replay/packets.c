// SPDX-License-Identifier: MIT
// Reads pcap files through libpcap, and pcapng files by cli/replay/pcapng.c.
#include "cli/replay/packets.h"

#include <errno.h>
#include <pcap.h>
#include <stdlib.h>
#include <string.h>

#include "cli/replay/input.h"
#include "cli/replay/pcapng.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

#define NS_PER_S INT64_C(1000000000)

struct packets {
    struct input *in;
    struct pcapng *png; // NULL = libpcap reads the file
    pcap_t *pcap;
    int link;
    char *failure;
};

// The first bytes of the formats that libpcap reads: pcap with microseconds, with nanoseconds, of
// two old variants, and pcapng.
static bool known_format(const uint8_t *head, bool *png)
{
    static const uint8_t magics[][4] = {{0xa1, 0xb2, 0xc3, 0xd4},
                                        {0xa1, 0xb2, 0x3c, 0x4d},
                                        {0xa1, 0xb2, 0xcd, 0x34},
                                        {0xa1, 0xe2, 0xcb, 0x12}};
    static const uint8_t section[4] = {0x0a, 0x0d, 0x0d, 0x0a};
    uint8_t swapped[4] = {head[3], head[2], head[1], head[0]};
    *png = memcmp(head, section, 4) == 0;
    bool known = *png;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        known |= memcmp(head, magics[i], 4) == 0 || memcmp(swapped, magics[i], 4) == 0;
    return known;
}

static int pcap_begin(struct packets *p, const char *name, struct err *err)
{
    char why[PCAP_ERRBUF_SIZE] = "";
    FILE *stream = input_stream(p->in);
    if (stream == NULL)
        return err_add(err, name, "%s", strerror(errno));
    p->pcap = pcap_fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, why);
    if (p->pcap == NULL) {
        fclose(stream);
        return err_add(err, name, "%s", input_failure(p->in) ? input_failure(p->in) : why);
    }
    p->link = pcap_datalink(p->pcap);
    return 0;
}

static int begin(struct packets *p, const char *name, struct err *err)
{
    uint8_t head[4] = {0};
    bool png;
    size_t n = input_peek(p->in, head, sizeof head);
    if (input_failure(p->in))
        return err_add(err, name, "%s", input_failure(p->in));
    if (n == 0)
        return err_add(err, name, "is empty");
    if (n < sizeof head || !known_format(head, &png))
        return err_add(err, name, "is not a capture (pcap or pcapng, compressed by gzip or not)");
    if (!png)
        return pcap_begin(p, name, err);
    p->png = pcapng_open(p->in);
    return 0;
}

struct packets *packets_open(const char *path, struct err *err)
{
    struct input *in = input_open(path, err);
    if (in == NULL)
        return NULL;
    struct packets *p = memory_zeroed(1, sizeof *p);
    p->in = in;
    if (begin(p, strcmp(path, "-") == 0 ? "stdin" : path, err) != 0) {
        packets_close(p);
        return NULL;
    }
    return p;
}

void packets_close(struct packets *p)
{
    if (p == NULL)
        return;
    if (p->pcap)
        pcap_close(p->pcap);
    pcapng_close(p->png);
    input_close(p->in);
    free(p->failure);
    free(p);
}

static int pcap_read(struct packets *p, struct captured *packet)
{
    struct pcap_pkthdr *header;
    const u_char *bytes;
    int code = pcap_next_ex(p->pcap, &header, &bytes);
    if (code != 1) {
        if (code != PCAP_ERROR_BREAK) // its value at the end of a file
            p->failure = memory_text(pcap_geterr(p->pcap));
        return code == PCAP_ERROR_BREAK ? 0 : -1;
    }
    *packet =
        (struct captured){.ns = (int64_t)header->ts.tv_sec * NS_PER_S + header->ts.tv_usec,
                          .bytes = bytes,
                          .kept = header->caplen < CAPTURED_MAX ? header->caplen : CAPTURED_MAX,
                          .length = header->len,
                          .link = p->link,
                          .timed = true};
    return 1;
}

static int pcapng_read(struct packets *p, struct captured *packet)
{
    const char *why;
    int code = pcapng_next(p->png, packet, &why);
    if (code < 0)
        p->failure = memory_text(why);
    return code;
}

int packets_next(struct packets *p, struct captured *packet)
{
    int code = p->png ? pcapng_read(p, packet) : pcap_read(p, packet);
    if (code <= 0 && input_failure(p->in)) {
        free(p->failure);
        p->failure = memory_text(input_failure(p->in));
        return -1;
    }
    return code;
}

const char *packets_failure(const struct packets *p) { return p->failure; }
