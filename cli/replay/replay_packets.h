// SPDX-License-Identifier: MIT
// The packets of a capture file, in the order of the file.
#pragma once

#include "cli/replay/replay_packet.h"
#include "engine/base/err.h"

struct packets;

// Open a pcap or pcapng file, compressed by gzip or not; "-" = stdin. Returns NULL with an error
// that names the file.
struct packets *packets_open(const char *path, struct err *err);
void packets_close(struct packets *p);

// Read the next packet. Returns 1; 0 at the end of the file; -1 if the file is cut or damaged there
// (packets_failure()).
int packets_next(struct packets *p, struct captured *packet);
const char *packets_failure(const struct packets *p);
