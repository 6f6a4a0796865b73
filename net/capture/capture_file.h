// SPDX-License-Identifier: MIT
// The formats of capture files. Packets are Ethernet frames; times are since the start of the
// simulation, in nanoseconds.
#pragma once

#include "net/capture/capture_output.h"
#include "net/capture/record.h"

enum capture_format { CAPTURE_PCAP, CAPTURE_PCAPNG };

// One interface of a pcapng file.
struct capture_interface {
    const char *name, *description;
    uint64_t rate_bps;  // 0 = not known
    const char *filter; // NULL = none
};

// An address with its name: an IPv4 address, a MAC, or both.
struct capture_name {
    uint32_t ip; // 0 = none
    uint64_t mac;
    const char *name;
};

struct capture_file_config {
    uint32_t snaplen;
    const char *application; // name and version of this program
    const struct capture_interface *interfaces;
    size_t n_interfaces;
    const struct capture_name *names;
    size_t n_names;
};

// The file header. pcapng also has the interfaces and the names.
void pcapng_begin(struct output *o, const struct capture_file_config *config);
void pcapng_put(struct output *o, const struct record *r);

// Bytes of a record in a pcapng file.
size_t pcapng_bytes(const struct record *r);

// libpcap writes pcap files, into the output.
struct pcap_writer;
struct pcap_writer *pcap_begin(struct output *o, const struct capture_file_config *config);
void pcap_put(struct pcap_writer *w, const struct record *r);
void pcap_flush(struct pcap_writer *w);
void pcap_end(struct pcap_writer *w); // NULL is legal
