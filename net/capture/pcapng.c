// SPDX-License-Identifier: MIT
// The pcapng format (draft-ietf-opsawg-pcapng), in the byte order of this machine.
//
// libpcap cannot write it. libwiretap can, but it allocates through GLib, which aborts the program
// where memory is short, and its interface changes with every release of Wireshark.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "net/capture/capture_file.h"
#include "net/capture/pcapng_options.h"

enum block { BLOCK_SECTION = 0x0a0d0d0a, BLOCK_INTERFACE = 1, BLOCK_NAMES = 4, BLOCK_PACKET = 6 };
#define BYTE_ORDER_MAGIC 0x1a2b3c4d
#define LINKTYPE_ETHERNET 1
#define RESOLUTION_NS 9
#define NAMES_PER_BLOCK 1000
enum name_record { NAME_END = 0, NAME_IPV4 = 1, NAME_MAC = 3 };

/* ---- blocks with a body of any length ---- */

struct body {
    uint8_t *bytes;
    size_t n, cap;
};

static void body_put(struct body *b, const void *bytes, size_t n)
{
    while (b->cap - b->n < n)
        b->bytes = memory_grow(b->bytes, &b->cap, 1);
    if (n > 0)
        memcpy(b->bytes + b->n, bytes, n);
    b->n += n;
}

// A value is cut to the longest that an option can have.
static void body_option(struct body *b, uint16_t code, const void *value, size_t n)
{
    n = n < UINT16_MAX ? n : UINT16_MAX;
    while (b->cap - b->n < OPTION_BYTES(n))
        b->bytes = memory_grow(b->bytes, &b->cap, 1);
    option_put(b->bytes + b->n, code, value, n);
    b->n += OPTION_BYTES(n);
}

static void body_text(struct body *b, uint16_t code, const char *text)
{
    if (text && *text)
        body_option(b, code, text, strlen(text));
}

static void block_put(struct output *o, uint32_t type, struct body *b)
{
    uint32_t head[2] = {type, (uint32_t)b->n + 12};
    output_put(o, head, sizeof head);
    output_put(o, b->bytes, b->n);
    output_put(o, &head[1], sizeof head[1]);
    b->n = 0;
}

static void section_put(struct output *o, struct body *b, const struct capture_file_config *config)
{
    uint32_t magic = BYTE_ORDER_MAGIC;
    uint16_t version[2] = {1, 0};
    int64_t length = -1; // not known
    body_put(b, &magic, sizeof magic);
    body_put(b, version, sizeof version);
    body_put(b, &length, sizeof length);
    body_text(b, OPTION_APPLICATION, config->application);
    body_option(b, OPTION_END, NULL, 0);
    block_put(o, BLOCK_SECTION, b);
}

static void interface_put(struct output *o, struct body *b, const struct capture_interface *i,
                          uint32_t snaplen)
{
    uint16_t type[2] = {LINKTYPE_ETHERNET, 0};
    uint8_t resolution = RESOLUTION_NS;
    body_put(b, type, sizeof type);
    body_put(b, &snaplen, sizeof snaplen);
    body_text(b, OPTION_IF_NAME, i->name);
    body_text(b, OPTION_IF_DESCRIPTION, i->description);
    if (i->rate_bps > 0)
        body_option(b, OPTION_IF_SPEED, &i->rate_bps, sizeof i->rate_bps);
    body_option(b, OPTION_IF_RESOLUTION, &resolution, sizeof resolution);
    if (i->filter) { // code 0 in the first byte: the filter is a text
        char *text = memory_zeroed(strlen(i->filter) + 2, 1);
        strcpy(text + 1, i->filter);
        body_option(b, OPTION_IF_FILTER, text, strlen(i->filter) + 1);
        free(text);
    }
    body_option(b, OPTION_END, NULL, 0);
    block_put(o, BLOCK_INTERFACE, b);
}

// A record of the name resolution block has the form of an option.
static void name_put(struct body *b, uint16_t type, const uint8_t *address, size_t n,
                     const char *name)
{
    uint8_t value[6 + 256];
    size_t length = strlen(name);
    length = length < sizeof value - 7 ? length : sizeof value - 7;
    memcpy(value, address, n);
    memcpy(value + n, name, length);
    value[n + length] = 0;
    body_option(b, type, value, n + length + 1);
}

static void names_put(struct output *o, struct body *b, const struct capture_file_config *config)
{
    for (size_t i = 0; i < config->n_names; i++) {
        const struct capture_name *n = &config->names[i];
        uint8_t ip[4], mac[6];
        for (unsigned k = 0; k < 4; k++)
            ip[k] = (uint8_t)(n->ip >> (24 - 8 * k));
        for (unsigned k = 0; k < 6; k++)
            mac[k] = (uint8_t)(n->mac >> (40 - 8 * k));
        if (n->ip != 0)
            name_put(b, NAME_IPV4, ip, sizeof ip, n->name);
        if (n->mac != 0)
            name_put(b, NAME_MAC, mac, sizeof mac, n->name);
        if (i + 1 == config->n_names || (i + 1) % NAMES_PER_BLOCK == 0) {
            body_option(b, NAME_END, NULL, 0);
            block_put(o, BLOCK_NAMES, b);
        }
    }
}

void pcapng_begin(struct output *o, const struct capture_file_config *config)
{
    struct body body = {0};
    section_put(o, &body, config);
    for (size_t i = 0; i < config->n_interfaces; i++)
        interface_put(o, &body, &config->interfaces[i], config->snaplen);
    names_put(o, &body, config);
    free(body.bytes);
}

/* ---- packets ---- */

struct packet_head {
    uint32_t type, bytes, interface, time_high, time_low, kept, length;
};

static size_t padding(size_t n) { return -n & 3; }

size_t pcapng_bytes(const struct record *r)
{
    size_t kept = record_kept(r);
    return sizeof(struct packet_head) + kept + padding(kept) + r->option_bytes + 4;
}

void pcapng_put(struct output *o, const struct record *r)
{
    size_t kept = record_kept(r);
    uint64_t ns = (uint64_t)ns_of_ps(r->time_ps);
    struct packet_head head = {.type = BLOCK_PACKET,
                               .bytes = (uint32_t)pcapng_bytes(r),
                               .interface = r->interface,
                               .time_high = (uint32_t)(ns >> 32),
                               .time_low = (uint32_t)ns,
                               .kept = (uint32_t)kept,
                               .length = r->length};
    output_put(o, &head, sizeof head);
    output_put(o, r->bytes, r->head_bytes);
    output_zeros(o, r->zero_bytes);
    output_put(o, r->bytes + r->head_bytes, r->tail_bytes);
    output_zeros(o, padding(kept));
    output_put(o, r->bytes + r->head_bytes + r->tail_bytes, r->option_bytes);
    output_put(o, &head.bytes, sizeof head.bytes);
}
