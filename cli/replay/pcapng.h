// SPDX-License-Identifier: MIT
// Reads pcapng files.
//
// libpcap refuses a pcapng file whose interfaces differ in link type or snaplen, and hides their
// names, so this format has a reader of its own (draft-ietf-opsawg-pcapng). It reads sections of
// either byte order, interface descriptions, enhanced, simple and obsolete packet blocks, and skips
// all other blocks.
#pragma once

#include "cli/replay/input.h"
#include "cli/replay/packet.h"

struct pcapng;

// A reader of the input, which is borrowed.
struct pcapng *pcapng_open(struct input *in);
void pcapng_close(struct pcapng *png);

// Read the next packet. Returns 1; 0 at the end of the file; -1 if the file is cut or damaged there
// (*why is set to a static text).
int pcapng_next(struct pcapng *png, struct captured *packet, const char **why);
