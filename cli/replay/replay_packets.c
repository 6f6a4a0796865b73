// SPDX-License-Identifier: MIT
// Reads pcap files through libpcap, and pcapng files by the functions below.
#include "cli/replay/replay_packets.h"

#include <errno.h>
#include <pcap.h>
#include <stdlib.h>
#include <string.h>

#include "cli/replay/replay_input.h"
#include "cli/replay/replay_packet.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

/* ---- pcapng ---- */

// Reads pcapng files.
//
// libpcap refuses a pcapng file whose interfaces differ in link type or snaplen, and hides their
// names, so this format has a reader of its own (draft-ietf-opsawg-pcapng). It reads sections of
// either byte order, interface descriptions, enhanced, simple and obsolete packet blocks, and skips
// all other blocks.

struct pcapng;

#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define BLOCK_OVERHEAD 12        // type and two lengths
#define OPTIONS_MAX 4096         // bytes of an interface's options that are read
#define INTERFACES_MAX (1 << 20) // a capture of all links of 100000 ranks has 600000
#define PCAPNG_NS_PER_S 1000000000

enum block_type {
    BLOCK_INTERFACE = 1,
    BLOCK_PACKET = 2, // obsolete
    BLOCK_SIMPLE = 3,
    BLOCK_ENHANCED = 6,
    BLOCK_SECTION = 0x0a0d0d0a,
};
enum interface_option { OPTION_NAME = 2, OPTION_TSRESOL = 9, OPTION_TSOFFSET = 14 };

struct interface {
    int64_t offset_s;
    uint32_t snaplen;
    uint16_t link;
    uint8_t resolution; // if_tsresol: 10^-n s, with the highest bit 2^-n s
    bool dropped;
};

struct pcapng {
    struct input *in; // borrowed
    bool swapped;     // the section is big-endian
    bool cut;         // the file has ended within a body
    struct interface *interfaces;
    size_t n_interfaces, cap;
    uint64_t left; // bytes of the current body that have not been read
    uint8_t bytes[CAPTURED_MAX];
};

// A reader of the input, which is borrowed.
static struct pcapng *pcapng_open(struct input *in)
{
    struct pcapng *png = memory_zeroed(1, sizeof *png);
    png->in = in;
    return png;
}

static void pcapng_close(struct pcapng *png)
{
    if (png == NULL)
        return;
    free(png->interfaces);
    free(png);
}

/* ---- numbers ---- */

static uint16_t get16(const struct pcapng *png, const uint8_t *at)
{
    return (uint16_t)(png->swapped ? at[0] << 8 | at[1] : at[1] << 8 | at[0]);
}

static uint32_t get32(const struct pcapng *png, const uint8_t *at)
{
    uint32_t a = get16(png, at), b = get16(png, at + 2);
    return png->swapped ? a << 16 | b : b << 16 | a;
}

static uint64_t get64(const struct pcapng *png, const uint8_t *at)
{
    uint64_t a = get32(png, at), b = get32(png, at + 4);
    return png->swapped ? a << 32 | b : b << 32 | a;
}

// Read bytes of the body.
static bool body_read(struct pcapng *png, void *out, size_t n)
{
    if (png->left < n)
        return false;
    png->cut = input_read(png->in, out, n) != n;
    png->left -= n;
    return !png->cut;
}

/* ---- interfaces ---- */

static void option_read(const struct pcapng *png, struct interface *interface, unsigned code,
                        const uint8_t *value, size_t n)
{
    static const char drops[] = " drops";
    size_t suffix = sizeof drops - 1;
    while (code == OPTION_NAME && n > 0 && value[n - 1] == '\0')
        n--;
    if (code == OPTION_NAME && n > suffix)
        interface->dropped = memcmp(value + n - suffix, drops, suffix) == 0;
    if (code == OPTION_TSRESOL && n == 1)
        interface->resolution = value[0];
    if (code == OPTION_TSOFFSET && n == 8)
        interface->offset_s = (int64_t)get64(png, value);
}

static bool resolution_known(uint8_t resolution)
{
    return resolution & 0x80 ? (resolution & 0x7f) < 64 : resolution <= 18;
}

static const char *interface_read(struct pcapng *png)
{
    uint8_t fixed[8], options[OPTIONS_MAX];
    struct interface interface = {.resolution = 6};
    if (!body_read(png, fixed, sizeof fixed))
        return "an interface description is cut";
    interface.link = get16(png, fixed);
    interface.snaplen = get32(png, fixed + 4);
    size_t n = png->left < sizeof options ? (size_t)png->left : sizeof options;
    if (!body_read(png, options, n))
        return "an interface description is cut";
    for (size_t at = 0; at + 4 <= n;) {
        unsigned code = get16(png, options + at);
        size_t length = get16(png, options + at + 2);
        at += 4;
        if (code == 0 || length > n - at)
            break;
        option_read(png, &interface, code, options + at, length);
        at += (length + 3) & ~(size_t)3;
    }
    if (!resolution_known(interface.resolution))
        return "an interface has an unknown resolution of time";
    if (png->n_interfaces == INTERFACES_MAX)
        return "a section has more than 1048576 interfaces";
    if (png->n_interfaces == png->cap)
        png->interfaces = memory_grow(png->interfaces, &png->cap, sizeof *png->interfaces);
    png->interfaces[png->n_interfaces++] = interface;
    return NULL;
}

// The time of a packet in nanoseconds since 1970, rounded down and limited to the stored range.
static int64_t time_ns(const struct interface *interface, uint64_t stamp)
{
    __extension__ typedef __int128 wide;
    unsigned exponent = interface->resolution & 0x7f;
    wide ns = stamp;
    if (interface->resolution & 0x80) {
        ns = ns * PCAPNG_NS_PER_S >> exponent;
    } else {
        for (; exponent < 9; exponent++)
            ns *= 10;
        for (; exponent > 9; exponent--)
            ns /= 10;
    }
    ns += (wide)interface->offset_s * PCAPNG_NS_PER_S;
    if (ns > CAPTURED_NS_MAX || ns < -CAPTURED_NS_MAX)
        return ns < 0 ? -CAPTURED_NS_MAX : CAPTURED_NS_MAX;
    return (int64_t)ns;
}

/* ---- packets ---- */

static bool packet_bytes(struct pcapng *png, uint64_t stored, struct captured *packet)
{
    packet->kept = stored < CAPTURED_MAX ? (uint32_t)stored : CAPTURED_MAX;
    packet->bytes = png->bytes;
    return stored <= png->left && body_read(png, png->bytes, packet->kept);
}

static const char *packet_read(struct pcapng *png, uint32_t type, struct captured *packet)
{
    static const char cut[] = "a packet block is shorter than its packet";
    uint8_t fixed[20];
    if (!body_read(png, fixed, sizeof fixed))
        return cut;
    size_t number = type == BLOCK_ENHANCED ? get32(png, fixed) : get16(png, fixed);
    if (number >= png->n_interfaces)
        return "a packet is of an interface that is not described";
    const struct interface *interface = &png->interfaces[number];
    uint64_t stamp = (uint64_t)get32(png, fixed + 4) << 32 | get32(png, fixed + 8);
    *packet = (struct captured){.ns = time_ns(interface, stamp),
                                .length = get32(png, fixed + 16),
                                .link = interface->link,
                                .timed = true,
                                .dropped = interface->dropped};
    return packet_bytes(png, get32(png, fixed + 12), packet) ? NULL : cut;
}

static const char *simple_read(struct pcapng *png, struct captured *packet)
{
    uint8_t fixed[4];
    if (!body_read(png, fixed, sizeof fixed))
        return "a packet block is shorter than its packet";
    if (png->n_interfaces == 0)
        return "a packet is of an interface that is not described";
    const struct interface *interface = &png->interfaces[0];
    *packet = (struct captured){.length = get32(png, fixed), .link = interface->link};
    uint64_t stored = packet->length;
    if (interface->snaplen > 0 && stored > interface->snaplen)
        stored = interface->snaplen;
    return packet_bytes(png, stored < png->left ? stored : png->left, packet)
               ? NULL
               : "a packet block is shorter than its packet";
}

/* ---- blocks ---- */

// Read the byte order of a section, which begins with the length of the block.
static const char *section_begin(struct pcapng *png, const uint8_t *head)
{
    uint8_t magic[4];
    if (input_read(png->in, magic, sizeof magic) != sizeof magic)
        return "the file ends within a block";
    png->swapped = false;
    if (get32(png, magic) != BYTE_ORDER_MAGIC)
        png->swapped = true;
    if (get32(png, magic) != BYTE_ORDER_MAGIC)
        return "a section has no byte order";
    png->n_interfaces = 0;
    uint32_t length = get32(png, head + 4);
    if (length < BLOCK_OVERHEAD + 16)
        return "a block has an impossible length";
    png->left = length - BLOCK_OVERHEAD - sizeof magic;
    return NULL;
}

static const char *block_begin(struct pcapng *png, const uint8_t *head, uint32_t *type)
{
    *type = get32(png, head);
    if (*type == BLOCK_SECTION)
        return section_begin(png, head);
    uint32_t length = get32(png, head + 4);
    if (length < BLOCK_OVERHEAD || length % 4 != 0)
        return "a block has an impossible length";
    png->left = length - BLOCK_OVERHEAD;
    return NULL;
}

// Skip the rest of the body and check the length behind it.
static const char *block_end(struct pcapng *png, const uint8_t *head)
{
    uint8_t length[4];
    if (input_skip(png->in, png->left) != png->left ||
        input_read(png->in, length, sizeof length) != sizeof length)
        return "the file ends within a block";
    return memcmp(length, head + 4, sizeof length) == 0 ? NULL : "a block has two lengths";
}

// Read the next packet. Returns 1; 0 at the end of the file; -1 if the file is cut or damaged there
// (*why is set to a static text).
static int pcapng_next(struct pcapng *png, struct captured *packet, const char **why)
{
    uint8_t head[8];
    size_t got;
    while ((got = input_read(png->in, head, sizeof head)) == sizeof head) {
        uint32_t type;
        *why = block_begin(png, head, &type);
        bool found = type == BLOCK_ENHANCED || type == BLOCK_PACKET || type == BLOCK_SIMPLE;
        if (*why == NULL && type == BLOCK_INTERFACE)
            *why = interface_read(png);
        else if (*why == NULL && type == BLOCK_SIMPLE)
            *why = simple_read(png, packet);
        else if (*why == NULL && found)
            *why = packet_read(png, type, packet);
        if (*why == NULL)
            *why = block_end(png, head);
        if (*why == NULL && found)
            return 1;
        if (*why != NULL && !png->cut)
            return -1;
        if (*why != NULL)
            break;
    }
    *why = "the file ends within a block";
    return got == 0 ? 0 : -1;
}

/* ---- packets ---- */

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
